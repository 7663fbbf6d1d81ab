import { stat } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { ClientError } from '../../errors.js'

/**
 * Where the local runtime of this user listens: `$XDG_RUNTIME_DIR/switchboard/local.sock`, else
 * `~/.switchboard/local.sock`. A folder that is the user's own keeps others from listening there in its place.
 */
export function localSocketPath(): string {
  const runtime = process.env.XDG_RUNTIME_DIR
  return runtime ? join(runtime, 'switchboard', 'local.sock') : join(homedir(), '.switchboard', 'local.sock')
}

/** The path, if the user's own runtime listens there; undefined if none does. */
export async function findLocalSocket(path = localSocketPath()): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isSocket()) return undefined
  // Whoever made the socket answers for every local agent, so it has to be this user (or there are no users: -1).
  const { uid } = userInfo()
  if (uid !== -1 && found.uid !== uid) {
    throw new ClientError('permission_denied', `${path} belongs to another user: no local agent is called through it`)
  }
  return path
}
