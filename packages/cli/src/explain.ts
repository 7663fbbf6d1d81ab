import { ClientError, type ClientErrorCode, toDisplayText } from '@switchboard/client'
import { LocalError } from '@switchboard/local'

/** What to do about it, where the message of the other side cannot know. */
const ADVICE: Partial<Record<ClientErrorCode, string>> = {
  unauthorized: 'give a key with --token or SWITCHBOARD_TOKEN (for an agent: --agent-token)',
  permission_denied: 'the key or the agent does not allow it',
  unreachable: 'is it running, and is the address right (of the directory: --url or SWITCHBOARD_URL)?',
  blocked_address: '--allow-private opens it, for agents of your own network',
  insecure: 'use https; --allow-private allows plain HTTP to this computer',
  unsigned: 'leave --require-signature out to call it all the same',
  timeout: 'it may need longer: --timeout SECONDS',
}

/** Mistakes of the person at the keyboard, whoever finds them. */
const WRONG_USE = new Set<string>(['invalid_uri', 'invalid_argument'])

/** Failures that are told in one line; anything else is a bug and shows its stack. */
export function isExpected(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    ['UsageError', 'CommandError', 'ConfigError', 'StoreError', 'ClientError', 'LocalError'].includes(error.name) ||
    /^(EADDR|EACCES|ENOTFOUND|ERR_PARSE_ARGS)/.test(code)
  )
}

/** One line that says what is wrong and what to do, and the exit code: 1 failed, 2 used wrongly. */
export function explain(error: Error): { readonly line: string; readonly code: number } {
  const isFailure =
    error.name === 'CommandError' ||
    (error instanceof ClientError && !WRONG_USE.has(error.code)) ||
    (error instanceof LocalError && error.code !== 'invalid_input')
  return { line: toDisplayText(error.message + adviceFor(error)), code: isFailure ? 1 : 2 }
}

function adviceFor(error: Error): string {
  if (!(error instanceof ClientError)) return ''
  if (error.code === 'rate_limited' && error.retryAfter !== undefined) return `: try again in ${error.retryAfter} s`
  const advice = ADVICE[error.code]
  return advice === undefined ? '' : `: ${advice}`
}
