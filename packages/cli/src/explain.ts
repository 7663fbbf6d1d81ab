import type { ClientErrorCode } from '@switchboard/client'
import { toDisplayText } from '@switchboard/client/display-text'
import type { LocalError } from '@switchboard/local'
import { isClientError } from './client-error.js'
import { tlsFailureOf } from './tls-failure.js'

/** Advice that only the command line can give, appended to the message of the error. */
const ADVICE: Partial<Record<ClientErrorCode, string>> = {
  unauthorized: 'pass a valid key with --token or SWITCHBOARD_TOKEN (for an agent: --agent-token)',
  permission_denied: 'use a key with the necessary scope, or ask the owner of the agent',
  unreachable: 'check that it is running and that the address is right (for the directory: --url or SWITCHBOARD_URL)',
  blocked_address: 'if the agent is in your own network, allow it with --allow-private',
  insecure: 'use https, or --allow-private for plain HTTP on this computer',
  unsigned: 'omit --require-signature to use it anyway',
  timeout: 'allow more time with --timeout SECONDS',
}

/** Error codes that mean wrong usage of the command. */
const USAGE_CODES = new Set<string>(['invalid_uri', 'invalid_argument'])

/** Names of errors with a message for the user. */
const EXPECTED = new Set([
  'UsageError',
  'CommandError',
  'ConfigError',
  'StoreError',
  'DirectoryError',
  'ClientError',
  'LocalError',
])

/** Errors that are reported in one line. Anything else is a bug and shows its stack. */
export function isExpected(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return EXPECTED.has(error.name) || /^(EADDR|EACCES|ENOTFOUND|ERR_PARSE_ARGS)/.test(code)
}

/** One line that says what is wrong and what to do, and the exit code: 1 for a failure, 2 for wrong usage. */
export function explain(error: Error): { readonly line: string; readonly code: number } {
  const isFailure =
    error.name === 'CommandError' ||
    error.name === 'DirectoryError' ||
    (isClientError(error) && !USAGE_CODES.has(error.code)) ||
    (isLocalError(error) && error.code !== 'invalid_input')
  return { line: toDisplayText(error.message + adviceFor(error)), code: isFailure ? 1 : 2 }
}

const isLocalError = (error: Error): error is LocalError => error.name === 'LocalError'

function adviceFor(error: Error): string {
  if (!isClientError(error)) return ''
  const tls = error.code === 'unreachable' ? tlsFailureOf(error) : undefined
  if (tls !== undefined) return ` over TLS: ${tls}`
  if (error.code === 'rate_limited' && error.retryAfter !== undefined) return `: try again in ${error.retryAfter} s`
  const advice = ADVICE[error.code]
  return advice === undefined ? '' : `: ${advice}`
}
