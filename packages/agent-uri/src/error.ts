/** The kinds of errors in an agent URI. The codes are stable: branch on them. */
export type AgentUriErrorCode =
  | 'invalid_scheme'
  | 'invalid_transport'
  | 'missing_authority'
  | 'invalid_userinfo'
  | 'invalid_host'
  | 'invalid_port'
  | 'invalid_path'
  | 'invalid_query'
  | 'invalid_fragment'

/**
 * Thrown for a text or value that is not an agent URI. Branch on `code`; the message is for people.
 * The message never quotes more than one character of the URI, which may contain a password or be very long.
 */
export class AgentUriError extends Error {
  override readonly name = 'AgentUriError'
  readonly code: AgentUriErrorCode
  /** Index in the URI, from 0, where the error is. */
  readonly position: number

  constructor(code: AgentUriErrorCode, problem: string, position: number) {
    super(`${problem} at position ${position}`)
    this.code = code
    this.position = position
  }
}
