import {
  AGENT_ERROR_KINDS,
  type AgentErrorKind,
  DirectoryError,
  type ErrorCode,
  type Issue,
  type JsonObject,
  problemBody,
} from '@switchboard/protocol'

const KINDS = {
  ...AGENT_ERROR_KINDS,
  /** The options are wrong. Thrown when the agent is created or started, never sent to callers. */
  invalid_definition: { status: 500, name: 'InvalidDefinition', title: 'The definition of the agent is not valid' },
} satisfies Record<string, AgentErrorKind>

/** Stable codes of errors. */
export type AgentErrorCode = keyof typeof KINDS

export interface AgentErrorOptions {
  readonly issues?: readonly Issue[]
  /** Seconds. */
  readonly retryAfter?: number
  /** Response headers that belong to this error, such as Allow. */
  readonly headers?: Readonly<Record<string, string>>
  /** Additional members of the problem document. */
  readonly members?: JsonObject
  readonly cause?: unknown
}

/** An error that is sent to the caller. Handlers may throw it; any other error becomes a 500 without details. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: AgentErrorCode
  readonly issues: readonly Issue[]
  readonly retryAfter: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly members: JsonObject

  constructor(code: AgentErrorCode, message: string, options: AgentErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.issues = options.issues ?? []
    this.retryAfter = options.retryAfter
    this.headers = options.headers ?? {}
    this.members = options.members ?? {}
  }

  get status(): number {
    return KINDS[this.code].status
  }
}

/** An input that does not match its schema; the message names every wrong member. */
export function invalidInput(issues: readonly Issue[]): AgentError {
  const problems = issues.map(({ at, message }) => (at === '' ? `the input ${message}` : `${at} ${message}`))
  return new AgentError('invalid_input', problems.join('; '), { issues })
}

/** The body of an error, for clients of every draft. */
export function problemOf(
  error: AgentError,
  at: { readonly instance: string; readonly requestId: string },
): JsonObject {
  const { title, name, profile }: AgentErrorKind = KINDS[error.code]
  const { code, message, status, issues, retryAfter, members } = error
  const type = `urn:switchboard:problem:${code.replaceAll('_', '-')}`
  return problemBody({ type, title, status, message, name, code: profile ?? code, ...at, issues, retryAfter, members })
}

/** The codes of errors that the shared rules of a call throw. */
const SHARED: Partial<Record<ErrorCode, AgentErrorCode>> = {
  invalid_request: 'invalid_input',
  payload_too_large: 'payload_too_large',
}

/** The error that the caller gets; unexpected errors become `internal_error` without details. */
export function toAgentError(error: unknown): AgentError {
  if (error instanceof AgentError) return error
  if (error instanceof DirectoryError) {
    const code = SHARED[error.code] ?? 'internal_error'
    if (code !== 'internal_error') return new AgentError(code, error.message, { issues: error.issues, cause: error })
  }
  return new AgentError('internal_error', 'the agent failed', { cause: error })
}
