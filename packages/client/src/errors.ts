/**
 * What can go wrong on the client's side; stable, for programs to tell apart. What an agent or a directory answers is
 * told with `status` and `details` beside the code.
 */
export type ClientErrorCode =
  /** The text is no agent URI, or one that this way cannot carry; the cause may be an AgentUriError. */
  | 'invalid_uri'
  /** An option or an argument is not usable as it was given. */
  | 'invalid_argument'
  /** No agent, no descriptor and no fallback; or the far side answered 404. */
  | 'not_found'
  /** The agent is there and does not have this capability. */
  | 'capability_not_found'
  /** The agent offers no version that fits. */
  | 'version_mismatch'
  /** Two places ask for different versions (C-63). */
  | 'version_conflict'
  /** No way that the agent names is known here; HTTPS is never tried by guess (C-91). */
  | 'unsupported_transport'
  /** A DID method that nothing here resolves (C-87). */
  | 'unsupported_method'
  /** The address lies in a network that strangers' documents may not lead to. */
  | 'blocked_address'
  /** The way there is not encrypted. */
  | 'insecure'
  /** A redirect leads to another origin. */
  | 'bad_redirect'
  /** No connection, or it broke. */
  | 'unreachable'
  | 'timeout'
  /** The caller's signal ended the work. */
  | 'aborted'
  /** More bytes than the limit allows. */
  | 'too_large'
  /** A descriptor, agents.json, DID document or the like that cannot be used; the message names the member. */
  | 'bad_document'
  /** A signature is demanded and there is none, or no key to check it with. */
  | 'unsigned'
  /** The signature does not fit the document or the keys of its authority. */
  | 'bad_signature'
  /** The answer is not what its protocol promises. */
  | 'bad_response'
  /** 400 or 422: the far side does not take this input. */
  | 'invalid_input'
  /** 401: credentials are missing or not valid. */
  | 'unauthorized'
  /** 403, or a local agent without consent. */
  | 'permission_denied'
  /** 406: none of the accepted media types is there. */
  | 'not_acceptable'
  /** 409: the state there is another one. */
  | 'conflict'
  /** 429; `retryAfter` says when. */
  | 'rate_limited'
  /** 503: not now. */
  | 'unavailable'
  /** The agent or directory failed, 500 and above. */
  | 'remote_error'
  /** A session, socket or stream that is closed already. */
  | 'closed'

export interface ClientErrorOptions {
  cause?: unknown
  /** HTTP status of the answer, or what the transport has in its place. */
  status?: number
  /** What was asked; never with userinfo. */
  url?: string
  /** Seconds. */
  retryAfter?: number
  requestId?: string
  /** What the far side said about it, as it said it; judge it before you show it. */
  details?: unknown
}

/** Every failure of this package, known by its code; messages are for people. */
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
