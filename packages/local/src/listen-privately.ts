import { chmod, lstat, unlink } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { ensurePrivateFolder } from './ensure-private-folder.js'
import { LocalError, systemCodeOf } from './local-error.js'

/** Longest path of a socket in bytes; systems truncate or reject longer ones. */
const MAX_PATH_BYTES = 103

/** Listens on a socket that only this user can open. Replaces a stale socket of a runtime that was killed. */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new LocalError(
      'unusable',
      `the socket path is longer than ${MAX_PATH_BYTES} bytes: ${path}; choose a shorter one`,
    )
  }
  // The folder keeps other users out until the socket has its own mode.
  await ensurePrivateFolder(dirname(path))
  try {
    await listen(server, path)
  } catch (error) {
    if (systemCodeOf(error) !== 'EADDRINUSE') throw error
    if (await acceptsConnections(path)) {
      throw new LocalError('conflict', `another local runtime is listening on ${path}`, { cause: error })
    }
    // Never delete a regular file.
    if (!(await lstat(path)).isSocket()) {
      throw new LocalError('unusable', `${path} exists and is not a socket: choose another path`)
    }
    await unlink(path)
    await listen(server, path)
  }
  await chmod(path, 0o600)
}

/** Starts listening; rejects with the server's error if that fails. */
export function listen(server: Server, ...at: [path: string] | [port: number, host: string]): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const done = (): void => {
      server.off('error', reject)
      resolve()
    }
    if (at.length === 1) server.listen(at[0], done)
    else server.listen(at[0], at[1], done)
  })
}

/** Whether a server accepts connections on this socket or port. */
export const acceptsConnections = (...at: [path: string] | [port: number, host: string]): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = at.length === 1 ? connect(at[0]) : connect(at[0], at[1])
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
