import {
  DirectoryError,
  type ErrorCode,
  type ErrorOptions,
  errorBody,
  isObject,
  type JsonObject,
  type JsonValue,
  readRetryAfter,
} from '@switchboard/protocol'
import { type AgentResponse, GatewayError, type GatewayErrorCode } from '../../../gateway/gateway.js'

/** A call that failed, as it is reported to the caller. */
export class CallFailed extends DirectoryError {
  /** Whether the agent may have done the work nevertheless. */
  readonly mayHaveRun: boolean

  constructor(code: ErrorCode, message: string, options: ErrorOptions & { mayHaveRun: boolean }) {
    super(code, message, options)
    this.mayHaveRun = options.mayHaveRun
  }
}

/** The error object of an error response, without the other members: for items, parts, frames and tasks. */
export function errorObject(error: DirectoryError): JsonObject {
  const { error: object } = errorBody(error, { base: '', instance: '', correlationId: '' })
  return isObject(object) ? object : {}
}

/** A failure of the agent after it may have done the work. */
export const agentFailed = (message: string): CallFailed => new CallFailed('agent_error', message, { mayHaveRun: true })

/** Output that is rejected because it does not match its schema (C-67). */
export const invalidOutput = (): CallFailed => agentFailed('the output of the agent does not match its own schema')

interface Failure {
  readonly code: ErrorCode
  readonly message: string
}

/** The agent rejects the credential that the operator stored for it (C-97). */
const CREDENTIAL_REFUSED: Failure = {
  code: 'agent_error',
  message: 'the agent rejected the credential of this directory',
}

/**
 * The error for each failure of the gateway; it reveals neither addresses nor other internals (01 §5.2). Without a message
 * here it has the gateway's own, which then contains only numbers.
 */
const GATEWAY_FAILURES: Record<GatewayErrorCode, Pick<Failure, 'code'> & Partial<Failure>> = {
  blocked: { code: 'agent_error', message: 'the agent has an address that this directory is not allowed to call' },
  loop: { code: 'loop_detected', message: 'the endpoint of the agent leads back to this directory' },
  unreachable: { code: 'agent_error', message: 'the agent could not be reached' },
  timeout: { code: 'timeout', message: 'the agent did not respond in time' },
  cancelled: { code: 'agent_error', message: 'the call was cancelled' },
  stopping: { code: 'unavailable', message: 'the directory is stopping: try again in a moment' },
  bad_response: { code: 'agent_error', message: 'the response of the agent is invalid' },
  too_large: { code: 'agent_error', message: 'the response of the agent is too large' },
  caller_busy: { code: 'rate_limited' },
  agent_busy: { code: 'unavailable' },
  gateway_busy: { code: 'unavailable' },
  circuit_open: { code: 'unavailable' },
  credential_refused: CREDENTIAL_REFUSED,
  not_invocable: { code: 'not_invocable', message: 'the agent supports no protocol that this directory can call' },
}

/** Whether the call was not sent because its caller has too many in progress: it can be sent when one of them ends. */
export const isAtOwnLimit = (error: DirectoryError): boolean => hasGatewayCode(error, 'caller_busy')

/** Whether it was up to the agent that the call failed, and not to the caller or the directory. */
export const isAgentFailure = (error: unknown): boolean =>
  error instanceof CallFailed && (error.code === 'agent_error' || error.code === 'timeout')

/** Whether the call ended because the directory is stopping. */
export const isStopping = (error: DirectoryError): boolean => hasGatewayCode(error, 'stopping')

const hasGatewayCode = ({ cause }: DirectoryError, code: GatewayErrorCode): boolean =>
  cause instanceof GatewayError && cause.code === code

/** Seconds, if neither the gateway nor the agent says when to retry. */
const RETRY_SECONDS = 5
/** Most seconds that an agent can make a caller wait. */
const MAX_RETRY_SECONDS = 86_400

/**
 * Translates an error of the gateway; any other error is returned unchanged.
 *
 * @param addresses where the caller may reach an agent that the directory cannot call
 */
export function fromGateway(error: unknown, addresses: JsonObject): unknown {
  if (!(error instanceof GatewayError)) return error
  const { mayHaveRun } = error
  const { code, message = error.message } = GATEWAY_FAILURES[error.code]
  const told = error.allowed === undefined ? message : `${message}: at most ${error.allowed} are allowed`
  const retryAfter = error.retryAfter ?? (code === 'unavailable' ? RETRY_SECONDS : undefined)
  return new CallFailed(code, told, {
    mayHaveRun,
    cause: error,
    ...(code === 'not_invocable' && { members: addresses }),
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

/** The error for each status of the agent, unless the agent sends its own error object. */
const STATUS_FAILURES: Partial<Record<number, Failure>> = {
  400: { code: 'invalid_request', message: 'the agent rejected the input' },
  401: { code: 'unauthorized', message: 'the agent requires a credential, or rejected the one that you sent for it' },
  403: { code: 'forbidden', message: 'the agent refused this call' },
  404: { code: 'not_found', message: 'the agent did not find what the call refers to' },
  409: { code: 'conflict', message: 'the agent reported a conflict' },
  413: { code: 'payload_too_large', message: 'the input is too large for the agent' },
  415: { code: 'unsupported_media_type', message: 'the agent does not support this media type' },
  422: { code: 'invalid_request', message: 'the agent rejected the input' },
  429: { code: 'rate_limited', message: 'the agent limits the rate of calls: try again later' },
  503: { code: 'unavailable', message: 'the agent is temporarily unavailable: try again later' },
  504: { code: 'timeout', message: 'the agent did not finish in time' },
}
const OTHER_FAILURE: Failure = {
  code: 'agent_error',
  message: 'the agent encountered an unexpected error while processing the request',
}

/** The credential that the agent has rejected, if it did. */
interface RejectedCredential {
  /** Stored by the operator, not sent by the caller. */
  readonly isStored: boolean
  /** Asks the caller for a credential, in place of the agent's own WWW-Authenticate. */
  readonly challenge: string
}

/** The error for an agent's own 4xx or 5xx: its status is passed on, and its error if that is an error object (C-97). */
export function fromResponse(response: AgentResponse, { isStored, challenge }: RejectedCredential): CallFailed {
  const { status, headers } = response
  // 407 is meant for the gateway in any case.
  if (status === 407 || (isStored && (status === 401 || status === 403))) {
    const { code, message } = CREDENTIAL_REFUSED
    return new CallFailed(code, message, { mayHaveRun: false })
  }
  const { code, message } = STATUS_FAILURES[status] ?? OTHER_FAILURE
  const reported = response.kind === 'json' ? errorObjectOf(response.value, status) : undefined
  const isTemporary = code === 'unavailable' || code === 'rate_limited'
  const retryAfter = readRetryAfter(headers['retry-after'], Date.now) ?? (isTemporary ? RETRY_SECONDS : undefined)
  return new CallFailed(code, reported?.message ?? message, {
    status,
    mayHaveRun: !isTemporary,
    ...(reported && { members: { error: reported.object } }),
    ...(retryAfter !== undefined && { retryAfter: Math.min(retryAfter, MAX_RETRY_SECONDS) }),
    ...(status === 401 && { headers: { 'www-authenticate': challenge } }),
  })
}

/** The error for a 2xx response that contains an error object: it must not count as a success (01 §5.2). */
export function fromErrorInside(value: JsonValue): CallFailed | undefined {
  const reported = errorObjectOf(value, ERROR_INSIDE)
  if (!reported) return undefined
  return new CallFailed('agent_error', reported.message, { mayHaveRun: true, members: { error: reported.object } })
}

/** Such an error is filtered like one with this status. */
const ERROR_INSIDE = 502
/** Most characters of a message; longer ones are dumps. */
const MAX_MESSAGE = 1000

/**
 * The AIDIP error object in the value. Of a 5xx only code and message are passed on, and no message that looks like a
 * stack trace.
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
