import { chmod, lstat, unlink } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { LocalError } from './local-error.js'
import { ensurePrivateFolder } from './private-folder.js'

/** Bytes of a socket's path; the system cuts longer ones off or refuses them. */
const MAX_PATH_BYTES = 103

/** Listens on a socket that only this user can open; one that a dead runtime left behind is replaced. */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new LocalError('unusable', `the path of the socket is longer than ${MAX_PATH_BYTES} bytes: ${path}`)
  }
  // The folder keeps others out from the first moment, before the socket has its own mode.
  await ensurePrivateFolder(dirname(path))
  try {
    await listen(server, path)
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error
    if (await isAnswered(path)) {
      throw new LocalError('conflict', `another local runtime listens on ${path}`, { cause: error })
    }
    // Not somebody's file, which would be gone.
    if (!(await lstat(path)).isSocket()) throw new LocalError('unusable', `${path} is not a socket: name another path`)
    await unlink(path)
    await listen(server, path)
  }
  await chmod(path, 0o600)
}

/** Listens, or throws what is in the way. */
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

/** Whether somebody takes connections there. */
export const isAnswered = (...at: [path: string] | [port: number, host: string]): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = at.length === 1 ? connect(at[0]) : connect(at[0], at[1])
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

/** The system's word for what went wrong. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
