import { defaultLocalSocket } from '@switchboard/client'
import { UsageError } from './usage.js'

/** Where the directory is, and what proves who is asking. */
export interface DirectorySettings {
  readonly url: string
  readonly token?: string
}

/** Flags that every command has which talks with a directory. */
export const DIRECTORY_FLAGS = {
  url: { type: 'string' },
  token: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** What --help says of them. */
export const DIRECTORY_HELP = `  --url URL          the directory (http://127.0.0.1:8040)   SWITCHBOARD_URL
  --token KEY        a key or JWT of the directory           SWITCHBOARD_TOKEN
  --json             print JSON, for programs`

const DEFAULT_URL = 'http://127.0.0.1:8040'

type Environment = Readonly<Record<string, string | undefined>>

/** Flags win over the environment, that over the defaults; this is the only place of the command that reads it. */
export function readDirectorySettings(
  flags: { readonly url?: string | undefined; readonly token?: string | undefined },
  env: Environment = process.env,
): DirectorySettings {
  // An empty variable is one that is not set.
  const url = flags.url ?? (env.SWITCHBOARD_URL || DEFAULT_URL)
  const token = flags.token ?? (env.SWITCHBOARD_TOKEN || undefined)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`--url must be the http or https URL of a directory, not "${url}"`)
  }
  return { url, ...(token !== undefined && { token }) }
}

/** What agents themselves want to see, which directories never do. */
export const readAgentToken = (flag: string | undefined, env: Environment = process.env): string | undefined =>
  flag ?? (env.SWITCHBOARD_AGENT_TOKEN || undefined)

/** Where the local runtime of this user listens. */
export const readLocalSocket = async (flag: string | undefined, env: Environment = process.env): Promise<string> =>
  flag ?? (env.SWITCHBOARD_LOCAL_SOCKET || (await defaultLocalSocket()))
