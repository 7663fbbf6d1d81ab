/** What can be wrong with an agent URI; stable, for programs to tell apart. */
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
 * Thrown for every text or value that is no agent URI. Branch on `code`; the message is for people.
 * The message never repeats a part of the URI longer than one character: it may hold a password or a megabyte.
 */
export class AgentUriError extends Error {
  override readonly name = 'AgentUriError'
  readonly code: AgentUriErrorCode
  /** Index into the URI, counted from 0, where the trouble begins. */
  readonly position: number

  constructor(code: AgentUriErrorCode, problem: string, position: number) {
    super(`${problem} at position ${position}`)
    this.code = code
    this.position = position
  }
}
