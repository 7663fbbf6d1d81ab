import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, DataPlace } from '@switchboard/server'
import type { Options } from '../command/command.js'
import { SERVE_OPTIONS } from '../commands/serve.js'
import { JSON_OPTION } from '../settings.js'
import { remark } from '../terminal/print.js'

/** Options that say where the data of a directory is. */
export const DATA_OPTIONS = {
  data: SERVE_OPTIONS.data,
  database: SERVE_OPTIONS.database,
  config: { ...SERVE_OPTIONS.config, text: 'config file of the directory' },
} as const satisfies Options

/** The same for commands that work on nothing else. */
export const PLACE_OPTIONS = { ...DATA_OPTIONS, ...JSON_OPTION } as const satisfies Options

export interface Place {
  readonly place: DataPlace
  /** Whether SWITCHBOARD_SECRET is set, so that the directory does not use the secret of its folder. */
  readonly hasSecret: boolean
}

/** Flags that name data. */
interface DataFlags {
  readonly data?: string | undefined
  readonly database?: string | undefined
  readonly config?: string | undefined
}

/** The settings of the directory whose data flags, environment and config name, in the same way as for `switchboard serve`. */
export async function readDataConfig({ data, database, config }: DataFlags): Promise<Config> {
  // Slow to load, and not needed for --help.
  const { readConfig } = await import('@switchboard/server')
  return readConfig({
    ...(data !== undefined && { data }),
    ...(database !== undefined && { database }),
    ...(config !== undefined && { config }),
  })
}

/** The data themselves. */
export async function readPlace(flags: DataFlags): Promise<Place> {
  const { data, database, secret } = await readDataConfig(flags)
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
