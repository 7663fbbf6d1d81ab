import { chmod, lstat, mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { LocalError } from './local-error.js'

/**
 * Makes a folder that nobody but this user can look into, or makes sure that one which is there is so: whoever could
 * write in it could answer in the runtime's place.
 */
export async function ensurePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new LocalError('unusable', `the folder ${path} cannot be made: ${String(cause)}`, { cause })
  })
  const found = await lstat(path)
  if (!found.isDirectory()) throw new LocalError('unusable', `${path} is not a folder`)
  const { uid } = userInfo()
  // Systems without users say -1.
  if (uid !== -1 && found.uid !== uid) throw new LocalError('unusable', `the folder ${path} belongs to another user`)
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700)
}
