import { DirectoryError, type ErrorCode, type Issue, type JsonObject, problemBody } from '@switchboard/protocol'

interface Kind {
  readonly status: number
  /** The code that AIDIP and agent:// use (AURI §9). */
  readonly name: string
  readonly title: string
  /** The profile's `code`, if it differs from ours. */
  readonly profile?: string
}

/** Status and codes of every error; the only place that knows them (C-68, AURI §9). */
const KINDS = {
  invalid_input: { status: 400, name: 'InvalidInput', title: 'Invalid Input', profile: 'invalid_request' },
  unauthorized: { status: 401, name: 'Unauthorized', title: 'Unauthorized' },
  permission_denied: { status: 403, name: 'PermissionDenied', title: 'Permission Denied', profile: 'forbidden' },
  not_found: { status: 404, name: 'NotFound', title: 'Not Found' },
  capability_not_found: {
    status: 404,
    name: 'CapabilityNotFound',
    title: 'Capability Not Found',
    profile: 'not_found',
  },
  version_not_found: { status: 404, name: 'VersionNotFound', title: 'Version Not Found', profile: 'not_found' },
  method_not_allowed: { status: 405, name: 'MethodNotAllowed', title: 'Method Not Allowed' },
  not_acceptable: { status: 406, name: 'NotAcceptable', title: 'Not Acceptable' },
  conflict: { status: 409, name: 'Conflict', title: 'Conflict' },
  payload_too_large: { status: 413, name: 'PayloadTooLarge', title: 'Payload Too Large' },
  unsupported_media_type: { status: 415, name: 'UnsupportedMediaType', title: 'Unsupported Media Type' },
  misdirected: { status: 421, name: 'MisdirectedRequest', title: 'Misdirected Request' },
  ambiguous_response: { status: 422, name: 'AmbiguousResponse', title: 'Ambiguous Response' },
  idempotency_mismatch: { status: 422, name: 'IdempotencyMismatch', title: 'Idempotency Mismatch' },
  rate_limited: { status: 429, name: 'RateLimited', title: 'Too Many Requests' },
  /** The options are wrong. Thrown when the agent is created or started, never sent to callers. */
  invalid_definition: { status: 500, name: 'InvalidDefinition', title: 'Invalid Definition' },
  internal_error: { status: 500, name: 'InternalError', title: 'Internal Error' },
  agent_error: { status: 502, name: 'AgentError', title: 'A Called Agent Failed' },
  unavailable: { status: 503, name: 'Unavailable', title: 'Unavailable' },
  timeout: { status: 504, name: 'Timeout', title: 'Timeout' },
} satisfies Record<string, Kind>

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
  const { title, name, profile }: Kind = KINDS[error.code]
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
