import { stat } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { ClientError } from '../../errors.js'

/**
 * The socket of this user's local runtime: `$XDG_RUNTIME_DIR/switchboard/local.sock`, else
 * `~/.switchboard/local.sock`. Both are in folders to which other users cannot write.
 */
export function localSocketPath(): string {
  const runtime = process.env.XDG_RUNTIME_DIR
  return runtime ? join(runtime, 'switchboard', 'local.sock') : join(homedir(), '.switchboard', 'local.sock')
}

/** The path if there is a socket of this user, else undefined. */
export async function findLocalSocket(path = localSocketPath()): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isSocket()) return undefined
  // The owner of the socket could impersonate every local agent, so it must be this user (uid -1: no user ids).
  const { uid } = userInfo()
  if (uid !== -1 && found.uid !== uid) {
    throw new ClientError('permission_denied', `the socket ${path} belongs to another user and is not used`)
  }
  return path
}
