import type { JsonObject } from './json.js'

interface ErrorKind {
  status: number
  /** AIDIP's short identifier, `error.code` (01 §5.2). */
  name: string
  title: string
  /** The profile's `code`, if it differs from the code here (PROF §12). */
  profile?: string
}

/** The error codes, with the status and the name that each draft has for them (C-68). */
export const ERROR_KINDS = {
  invalid_request: { status: 400, name: 'InvalidInput', title: 'The request is not valid' },
  unsupported_filter: { status: 400, name: 'UnsupportedFilter', title: 'A filter is not supported' },
  unauthorized: { status: 401, name: 'Unauthorized', title: 'Credentials are missing or not valid' },
  forbidden: { status: 403, name: 'Forbidden', title: 'The caller is not allowed to do this' },
  csrf_failed: {
    status: 403,
    name: 'CsrfFailed',
    title: 'The request lacks the proof that a page of this directory sent it',
  },
  quota_exceeded: { status: 403, name: 'QuotaExceeded', title: 'The quota of the owner is used up' },
  not_found: { status: 404, name: 'NotFound', title: 'The resource does not exist' },
  registration_expired: { status: 404, name: 'NotFound', title: 'The registration has expired', profile: 'not_found' },
  method_not_allowed: { status: 405, name: 'MethodNotAllowed', title: 'The resource does not support this method' },
  not_acceptable: { status: 406, name: 'NotAcceptable', title: 'None of the accepted media types is available' },
  conflict: { status: 409, name: 'Conflict', title: 'The request conflicts with what is registered' },
  stale_metadata: { status: 409, name: 'StaleMetadata', title: 'A newer registration is stored' },
  precondition_failed: {
    status: 412,
    name: 'StaleMetadata',
    title: 'The agent has changed',
    profile: 'stale_metadata',
  },
  payload_too_large: { status: 413, name: 'PayloadTooLarge', title: 'The body is too large' },
  unsupported_media_type: { status: 415, name: 'UnsupportedMediaType', title: 'The media type is not supported' },
  idempotency_mismatch: {
    status: 422,
    name: 'IdempotencyMismatch',
    title: 'The idempotency key was used for a different request',
  },
  rate_limited: { status: 429, name: 'RateLimited', title: 'Too many requests' },
  internal_error: { status: 500, name: 'InternalError', title: 'The directory failed' },
  not_invocable: { status: 501, name: 'NotInvocable', title: 'The agent cannot be called here' },
  agent_error: { status: 502, name: 'AgentError', title: 'The agent failed' },
  unavailable: { status: 503, name: 'Unavailable', title: 'The directory or the agent is temporarily unavailable' },
  timeout: { status: 504, name: 'Timeout', title: 'The agent did not respond in time' },
  loop_detected: { status: 508, name: 'LoopDetected', title: 'The call leads back to this directory' },
} satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERROR_KINDS

/** One mistake in a request; `at` is a JSON pointer into the body, or `?name` for a query parameter. */
export interface Issue {
  at: string
  message: string
}

export interface ErrorOptions {
  issues?: Issue[]
  /** Seconds. */
  retryAfter?: number
  /** Response headers that belong to this error, such as Allow or WWW-Authenticate. */
  headers?: Record<string, string>
  /** Extension members of the body. */
  members?: JsonObject
  /** The status, if an agent's own is passed on (C-97); default: the status of the code. */
  status?: number
  cause?: unknown
}

/** An error that is reported to the caller. Branch on its `code`. */
export class DirectoryError extends Error {
  readonly code: ErrorCode
  readonly issues: Issue[]
  readonly retryAfter: number | undefined
  readonly headers: Record<string, string>
  readonly members: JsonObject
  readonly status: number

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'DirectoryError'
    this.code = code
    this.issues = options.issues ?? []
    this.retryAfter = options.retryAfter
    this.headers = options.headers ?? {}
    this.members = options.members ?? {}
    this.status = options.status ?? ERROR_KINDS[code].status
  }
}

/** An `invalid_request` error whose message lists every issue. */
export function invalid(issues: Issue[]): DirectoryError {
  const said = issues.map(({ at, message }) => (at === '' ? `the document ${message}` : `${at} ${message}`))
  return new DirectoryError('invalid_request', said.join('; '), { issues })
}

/** What the body of an error is written from. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly message: string
  /** AIDIP's short identifier. */
  readonly name: string
  /** The profile's code. */
  readonly code: string
  readonly instance: string
  readonly requestId: string
  readonly issues: readonly Issue[]
  /** Seconds. */
  readonly retryAfter: number | undefined
  /** Extension members. */
  readonly members: JsonObject
}

/** A response body for clients of every draft: AIDIP's `error`, RFC 9457 problem details, the profile's members. */
export function problemBody(problem: Problem): JsonObject {
  const { type, title, status, message, name, code, instance, requestId, issues, retryAfter, members } = problem
  const details = issues.map((issue) => ({ member: issue.at, message: issue.message }))
  return {
    type,
    title,
    status,
    detail: message,
    instance,
    error: { code: name, message, ...(details.length > 0 && { details }) },
    code,
    message,
    correlation_id: requestId,
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
    ...members,
  }
}

/** The body of an error of the directory, whose problem types lie below `base`. */
export function errorBody(
  error: DirectoryError,
  at: { base: string; instance: string; correlationId: string },
): JsonObject {
  const { title, name, profile }: ErrorKind = ERROR_KINDS[error.code]
  const { status, message, issues, retryAfter, members } = error
  return problemBody({
    type: `${at.base}/problems/${error.code.replaceAll('_', '-')}`,
    title,
    status,
    message,
    name,
    code: profile ?? error.code,
    instance: at.instance,
    requestId: at.correlationId,
    issues,
    retryAfter,
    members,
  })
}
