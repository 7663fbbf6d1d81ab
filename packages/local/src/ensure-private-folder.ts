import { chmod, lstat, mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { LocalError } from './local-error.js'

/**
 * Creates a folder that only this user can open, or restricts an existing one. Anyone who could write to it could
 * impersonate the runtime.
 */
export async function ensurePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new LocalError('unusable', `cannot create the folder ${path}: ${String(cause)}`, { cause })
  })
  const found = await lstat(path)
  if (!found.isDirectory()) throw new LocalError('unusable', `${path} is not a folder`)
  const { uid } = userInfo()
  // uid is -1 on systems without user ids.
  if (uid !== -1 && found.uid !== uid) throw new LocalError('unusable', `the folder ${path} belongs to another user`)
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700)
}
