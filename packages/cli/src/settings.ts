import type { Options } from './command/command.js'
import { UsageError } from './usage.js'

/** Where a directory is that was started without flags. */
export const DEFAULT_URL = 'http://127.0.0.1:8040'
export const DEFAULT_DATA = './switchboard-data'

/** The URL of the directory, and the API key or JWT for it. */
export interface DirectorySettings {
  readonly url: string
  readonly token?: string
}

/** Output for programs. */
export const JSON_OPTION = { json: { type: 'boolean', text: 'print JSON, for programs' } } as const satisfies Options

/** Where a directory is, and how to connect to it. */
export const CONNECTION_OPTIONS = {
  url: { type: 'string', value: 'URL', text: `the directory (${DEFAULT_URL})`, variable: 'SWITCHBOARD_URL' },
  token: { type: 'string', value: 'TOKEN', text: 'API key or JWT for the directory', variable: 'SWITCHBOARD_TOKEN' },
  ca: { type: 'string', value: 'FILE', text: 'CA certificates to trust, as PEM', variable: 'SWITCHBOARD_CA' },
} as const satisfies Options

/** Options of every command that uses a directory. */
export const DIRECTORY_OPTIONS = { ...CONNECTION_OPTIONS, ...JSON_OPTION } as const satisfies Options

/** The same for administrators. */
export const ADMIN_OPTIONS = {
  ...DIRECTORY_OPTIONS,
  token: { type: 'string', value: 'TOKEN', text: "administrator's key", variable: 'SWITCHBOARD_ADMIN_KEY' },
} as const satisfies Options

type Environment = Readonly<Record<string, string | undefined>>

interface ConnectionFlags {
  readonly url?: string | undefined
  readonly token?: string | undefined
}

/** Flags override the environment, which overrides the defaults. Only this file reads the environment. */
export function readDirectorySettings(flags: ConnectionFlags, env: Environment = process.env): DirectorySettings {
  // Treat an empty variable as unset.
  const url = flags.url ?? (env.SWITCHBOARD_URL || DEFAULT_URL)
  const token = flags.token ?? (env.SWITCHBOARD_TOKEN || undefined)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`--url must be the http or https URL of a directory, not "${url}"`)
  }
  return { url, ...(token !== undefined && { token }) }
}

/** The same for administrators: SWITCHBOARD_ADMIN_KEY, if it is set, is the token. */
export const readAdminSettings = (flags: ConnectionFlags, env: Environment = process.env): DirectorySettings =>
  readDirectorySettings({ url: flags.url, token: flags.token ?? (env.SWITCHBOARD_ADMIN_KEY || undefined) }, env)

/** Whether flags or environment say which directory to use, or with which key. */
export const namesDirectory = (flags: ConnectionFlags, env: Environment = process.env): boolean =>
  [flags.url, flags.token, env.SWITCHBOARD_URL, env.SWITCHBOARD_TOKEN, env.SWITCHBOARD_ADMIN_KEY].some(Boolean)

/** Whether flags or environment say which directory to use. */
export const namesUrl = (flags: ConnectionFlags, env: Environment = process.env): boolean =>
  [flags.url, env.SWITCHBOARD_URL].some(Boolean)

/** The same for administrators, whose key is not that of everyday use. */
export const namesAdministrator = (flags: ConnectionFlags, env: Environment = process.env): boolean =>
  [flags.url, flags.token, env.SWITCHBOARD_URL, env.SWITCHBOARD_ADMIN_KEY].some(Boolean)

/** The file of CA certificates to trust besides the usual ones. */
export const readCaFile = (flag: string | undefined, env: Environment = process.env): string | undefined =>
  flag ?? (env.SWITCHBOARD_CA || undefined)

/** The token for the called agent; it is not a token of the directory. */
export const readAgentToken = (flag: string | undefined, env: Environment = process.env): string | undefined =>
  flag ?? (env.SWITCHBOARD_AGENT_TOKEN || undefined)

/** The API key for the called agent, if it requires one. */
export const readAgentKey = (flag: string | undefined, env: Environment = process.env): string | undefined =>
  flag ?? (env.SWITCHBOARD_AGENT_KEY || undefined)

/** How to start this command again: in a clone, and wherever npm started it, through npx. */
export const commandName = (env: Environment = process.env): string =>
  env.npm_lifecycle_event === undefined ? 'switchboard' : 'npx switchboard'

/** The socket of this user's local runtime. */
export const readLocalSocket = async (flag: string | undefined, env: Environment = process.env): Promise<string> =>
  flag ?? (env.SWITCHBOARD_LOCAL_SOCKET || (await (await import('@switchboard/client')).defaultLocalSocket()))

/** Whether to use colours: on a terminal, unless NO_COLOR forbids or FORCE_COLOR demands them. */
export function readColours(isTerminal: boolean, env: Environment = process.env): boolean {
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0'
  return !env.NO_COLOR && isTerminal && env.TERM !== 'dumb'
}
