import {
  DirectoryError,
  type ErrorCode,
  type ErrorOptions,
  isObject,
  type JsonObject,
  type JsonValue,
  readRetryAfter,
} from '@switchboard/protocol'
import { type AgentResponse, GatewayError, type GatewayErrorCode } from '../../../gateway/gateway.js'

/** A call that did not succeed, as the caller is told. */
export class CallFailed extends DirectoryError {
  /** Whether the agent may have done the work all the same. */
  readonly mayHaveRun: boolean

  constructor(code: ErrorCode, message: string, options: ErrorOptions & { mayHaveRun: boolean }) {
    super(code, message, options)
    this.mayHaveRun = options.mayHaveRun
  }
}

/** What went wrong on the way, without addresses and other internals (01 §5.2). */
const ON_THE_WAY: Record<Exclude<GatewayErrorCode, 'not_invocable'>, { code: ErrorCode; message: string }> = {
  blocked: { code: 'agent_error', message: 'the agent has an address that this directory does not call' },
  loop: { code: 'loop_detected', message: 'the endpoint of the agent leads back to this directory' },
  unreachable: { code: 'agent_error', message: 'the agent could not be reached' },
  timeout: { code: 'timeout', message: 'the agent did not answer in time' },
  cancelled: { code: 'agent_error', message: 'the call was cancelled' },
  bad_response: { code: 'agent_error', message: 'the agent gave an answer that cannot be read' },
  too_large: { code: 'agent_error', message: 'the agent gave an answer that is too large' },
  busy: { code: 'unavailable', message: 'the agent has as many calls as it can take: try again later' },
  circuit_open: { code: 'unavailable', message: 'the agent has failed repeatedly and is left alone: try again later' },
  credential_refused: { code: 'agent_error', message: 'the agent refuses the credential of this directory' },
}

/** Seconds, where nobody knows better. */
const RETRY_SECONDS = 5

/** The error for what the gateway could not do; anything else stays what it is. */
export function fromGateway(error: unknown, reach: JsonObject): unknown {
  if (!(error instanceof GatewayError)) return error
  const { mayHaveRun, retryAfter } = error
  if (error.code === 'not_invocable')
    return new CallFailed('not_invocable', 'the agent speaks no protocol that this directory calls by', {
      mayHaveRun,
      members: reach,
      cause: error,
    })
  const { code, message } = ON_THE_WAY[error.code]
  const wait = retryAfter ?? (code === 'unavailable' ? RETRY_SECONDS : undefined)
  return new CallFailed(code, message, { mayHaveRun, cause: error, ...(wait !== undefined && { retryAfter: wait }) })
}

/** Kinds of error by the agent's own status; the rest is the agent's failure. */
const BY_STATUS: Partial<Record<number, { code: ErrorCode; message: string }>> = {
  400: { code: 'invalid_request', message: 'the agent does not accept the input' },
  401: {
    code: 'unauthorized',
    message: 'the agent does not accept the credential that was sent for it, or misses one',
  },
  403: { code: 'forbidden', message: 'the agent refuses this call' },
  404: { code: 'not_found', message: 'the agent does not find what the call asks for' },
  409: { code: 'conflict', message: 'the agent finds a conflict' },
  413: { code: 'payload_too_large', message: 'the input is too large for the agent' },
  415: { code: 'unsupported_media_type', message: 'the agent does not take this kind of input' },
  422: { code: 'invalid_request', message: 'the agent does not accept the input' },
  429: { code: 'rate_limited', message: 'the agent limits its callers: try again later' },
  503: { code: 'unavailable', message: 'the agent is not available now: try again later' },
  504: { code: 'timeout', message: 'the agent did not finish in time' },
}
const FAILURE: { code: ErrorCode; message: string } = {
  code: 'agent_error',
  message: 'the agent encountered an unexpected error while processing the request',
}

/** The error for an agent's own 4xx or 5xx: its status stays, its words only if they are an error object (C-97). */
export function fromAnswer(answer: AgentResponse, ownCredential: boolean): CallFailed {
  const { status } = answer
  if (ownCredential && (status === 401 || status === 403)) {
    const { code, message } = ON_THE_WAY.credential_refused
    return new CallFailed(code, message, { mayHaveRun: false })
  }
  const { code, message } = BY_STATUS[status] ?? FAILURE
  const said = answer.kind === 'json' ? errorObjectOf(answer.value, status) : undefined
  const waits = code === 'unavailable' || code === 'rate_limited'
  const retryAfter = readRetryAfter(answer.headers['retry-after'], Date.now) ?? (waits ? RETRY_SECONDS : undefined)
  const challenge = answer.headers['www-authenticate']
  return new CallFailed(code, said?.message ?? message, {
    status,
    mayHaveRun: !waits,
    ...(said && { members: { error: said.object } }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(challenge !== undefined && { headers: { 'www-authenticate': challenge } }),
  })
}

/** An answer of 2xx whose content says that the work failed: no success is told of it (01 §5.2). */
export function fromErrorInside(value: JsonValue): CallFailed | undefined {
  const said = errorObjectOf(value, ERROR_INSIDE)
  if (!said) return undefined
  return new CallFailed('agent_error', said.message, { mayHaveRun: true, members: { error: said.object } })
}

const ERROR_INSIDE = 502
/** Characters of a message; longer ones are dumps. */
const MAX_MESSAGE = 1000

/**
 * The error object of AIDIP, if the value has one. Of a failure inside the agent only code and message are passed on,
 * and no message that has several lines: those are stack traces.
 */
function errorObjectOf(value: JsonValue, status: number): { message: string; object: JsonObject } | undefined {
  const error = isObject(value) ? value.error : undefined
  if (!isObject(error)) return undefined
  const { code, message } = error
  if (typeof code !== 'string' || typeof message !== 'string' || code === '' || message === '') return undefined
  if (status < 500) return { message, object: error }
  if (message.length > MAX_MESSAGE || /[\r\n]|\bat \S+:\d+/.test(message) || !/^[\w.:-]{1,100}$/.test(code))
    return undefined
  return { message, object: { code, message } }
}
