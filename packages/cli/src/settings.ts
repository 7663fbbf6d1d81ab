import { defaultLocalSocket } from '@switchboard/client'
import { UsageError } from './usage.js'

/** The URL of the directory, and the API key or JWT for it. */
export interface DirectorySettings {
  readonly url: string
  readonly token?: string
}

/** Flags of every command that uses a directory. */
export const DIRECTORY_FLAGS = {
  url: { type: 'string' },
  token: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Their lines in --help. */
export const DIRECTORY_HELP = `  --url URL          the directory (http://127.0.0.1:8040)   SWITCHBOARD_URL
  --token TOKEN      API key or JWT for the directory        SWITCHBOARD_TOKEN
  --json             print JSON, for programs`

const DEFAULT_URL = 'http://127.0.0.1:8040'

type Environment = Readonly<Record<string, string | undefined>>

/** Flags override the environment, which overrides the defaults. Only this file reads the environment. */
export function readDirectorySettings(
  flags: { readonly url?: string | undefined; readonly token?: string | undefined },
  env: Environment = process.env,
): DirectorySettings {
  // Treat an empty variable as unset.
  const url = flags.url ?? (env.SWITCHBOARD_URL || DEFAULT_URL)
  const token = flags.token ?? (env.SWITCHBOARD_TOKEN || undefined)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`--url must be the http or https URL of a directory, not "${url}"`)
  }
  return { url, ...(token !== undefined && { token }) }
}

/** The token for the called agent; it is not a token of the directory. */
export const readAgentToken = (flag: string | undefined, env: Environment = process.env): string | undefined =>
  flag ?? (env.SWITCHBOARD_AGENT_TOKEN || undefined)

/** The socket of this user's local runtime. */
export const readLocalSocket = async (flag: string | undefined, env: Environment = process.env): Promise<string> =>
  flag ?? (env.SWITCHBOARD_LOCAL_SOCKET || (await defaultLocalSocket()))
