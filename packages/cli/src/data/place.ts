import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DataPlace } from '@switchboard/server'
import { remark } from '../terminal/print.js'

/** Flags that say where the data of a directory is. */
export const PLACE_FLAGS = {
  data: { type: 'string' },
  database: { type: 'string' },
  config: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Their lines in --help. */
export const PLACE_HELP = `  --data FOLDER        folder of the embedded store (./switchboard-data)  SWITCHBOARD_DATA
  --database URL       a postgres:// URL instead of --data              SWITCHBOARD_DATABASE_URL
  --config FILE        config file of the directory                     SWITCHBOARD_CONFIG
  --json               print JSON, for programs`

export interface Place {
  readonly place: DataPlace
  /** Whether SWITCHBOARD_SECRET is set, so that the directory does not use the secret of its folder. */
  readonly hasSecret: boolean
}

/** The data that flags, environment and config name, in the same way as for `switchboard serve`. */
export async function readPlace(flags: {
  readonly data?: string | undefined
  readonly database?: string | undefined
  readonly config?: string | undefined
}): Promise<Place> {
  // Slow to load, and not needed for --help.
  const { readConfig } = await import('@switchboard/server')
  const { data, database, secret } = readConfig({
    ...(flags.data !== undefined && { data: flags.data }),
    ...(flags.database !== undefined && { database: flags.database }),
    ...(flags.config !== undefined && { config: flags.config }),
  })
  // A folder on the command line means that folder, even if the environment names a database.
  const isFolder = database === undefined || (flags.data !== undefined && flags.database === undefined)
  return { place: isFolder ? { folder: data } : { database }, hasSecret: secret !== undefined }
}

/** Names the file that decrypts the secrets in the data, and has to be kept or moved separately. */
export function remarkOnSecret({ place, hasSecret }: Place, sealed: number, what: 'backup' | 'target'): void {
  if (sealed === 0 || hasSecret) return
  const file = 'folder' in place ? join(place.folder, 'secret.key') : undefined
  const secrets = sealed === 1 ? '1 secret' : `${sealed} secrets`
  if (what === 'backup' && file !== undefined)
    remark(`the backup has ${secrets} encrypted with ${file}: keep a copy of that file too, in another place`)
  if (what === 'backup' || (file !== undefined && existsSync(file))) return
  const copy = file === undefined ? '' : `copy the secret.key of the original directory to ${file}, or `
  remark(
    `the data has ${secrets} encrypted with the original secret: before you start the directory, ${copy}set SWITCHBOARD_SECRET to it`,
  )
}
