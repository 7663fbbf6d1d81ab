/** Stable codes of failures, for programs to branch on. */
export type ClientErrorCode =
  /** Not an agent URI, or not one that can be used here; the cause may be an `AgentUriError`. */
  | 'invalid_uri'
  /** An option or argument is invalid. */
  | 'invalid_argument'
  /** No agent or descriptor was found, or the response was a 404. */
  | 'not_found'
  /** The agent does not have this capability. */
  | 'capability_not_found'
  /** The agent has no version that matches the request. */
  | 'version_mismatch'
  /** The options, query and path request different versions (C-63). */
  | 'version_conflict'
  /** None of the agent's transports is supported; HTTPS is never tried instead (C-91). */
  | 'unsupported_transport'
  /** The DID method is not supported (C-87). */
  | 'unsupported_method'
  /** The address is not public, and the options do not allow it. */
  | 'blocked_address'
  /** The connection would not be encrypted. */
  | 'insecure'
  /** A redirect that is not followed. */
  | 'bad_redirect'
  /** The connection failed or broke. */
  | 'unreachable'
  | 'timeout'
  /** The caller's signal was aborted. */
  | 'aborted'
  /** Larger than the limit. */
  | 'too_large'
  /** A descriptor, agents.json or DID document is invalid; the message names the member. */
  | 'bad_document'
  /** A signature is required, but it is missing or its key is not published. */
  | 'unsigned'
  /** The signature is invalid. */
  | 'bad_signature'
  /** The response violates its protocol. */
  | 'bad_response'
  /** 400 or 422: the agent or directory rejects the input. */
  | 'invalid_input'
  /** 401: credentials are missing or invalid. */
  | 'unauthorized'
  /** 403, or a local agent without the user's consent. */
  | 'permission_denied'
  /** 406: none of the accepted media types is available. */
  | 'not_acceptable'
  /** 409 or 412: the state has changed. */
  | 'conflict'
  /** 429: too many requests; see `retryAfter`. */
  | 'rate_limited'
  /** 503: temporarily unavailable. */
  | 'unavailable'
  /** Another 5xx: the agent or directory failed. */
  | 'remote_error'
  /** The session, socket or stream is already closed. */
  | 'closed'

export interface ClientErrorOptions {
  cause?: unknown
  /** HTTP status of the response, or its equivalent in another transport. */
  status?: number
  /** URL of the request, without userinfo. */
  url?: string
  /** Seconds to wait before a retry. */
  retryAfter?: number
  requestId?: string
  /** The body of the error response. It is untrusted: check it before you show it. */
  details?: unknown
}

/** The error of every failure in this package. Branch on its `code`; messages are for people. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode
  readonly status: number | undefined
  readonly url: string | undefined
  readonly retryAfter: number | undefined
  readonly requestId: string | undefined
  readonly details: unknown

  constructor(code: ClientErrorCode, message: string, options: ClientErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.status = options.status
    this.url = options.url
    this.retryAfter = options.retryAfter
    this.requestId = options.requestId
    this.details = options.details
  }
}
