import { asObjects, asString, isObject, type JsonValue } from '@switchboard/protocol'
import type { HttpResponse } from '../../http/send-request.js'
import { type AgentFailure, agentFailure, httpFailure } from '../rpc/agent-failure.js'
import { type ErrorKind, RPC_ERRORS, type RpcError, readRpcError, UNKNOWN_ERROR } from '../rpc/json-rpc.js'

/** The errors of JSON-RPC and of A2A 1.0 §5.4. */
const ERRORS: Readonly<Record<number, ErrorKind | undefined>> = {
  ...RPC_ERRORS,
  [-32001]: { status: 404, name: 'TaskNotFound' },
  [-32002]: { status: 409, name: 'TaskNotCancelable' },
  [-32003]: { status: 501, name: 'PushNotificationNotSupported' },
  [-32004]: { status: 501, name: 'UnsupportedOperation' },
  [-32005]: { status: 415, name: 'UnsupportedMediaType' },
  [-32006]: { status: 502, name: 'InvalidAgentResponse' },
  [-32007]: { status: 404, name: 'ExtendedCardNotConfigured' },
  [-32008]: { status: 501, name: 'ExtensionSupportRequired' },
  [-32009]: { status: 501, name: 'VersionNotSupported' },
}

/** Reasons by which HTTP+JSON of A2A 1.0 names the same errors. */
const REASONS: Record<string, number | undefined> = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  INVALID_AGENT_RESPONSE: -32006,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  EXTENSION_SUPPORT_REQUIRED: -32008,
  VERSION_NOT_SUPPORTED: -32009,
  INVALID_PARAMS: -32602,
}

/** An A2A error as an error response to the caller. */
export interface A2aFailure extends AgentFailure {
  /** The error code of the protocol, if known. */
  readonly code?: number
}

/** Translates a JSON-RPC error. */
export function failureOf({ code, message }: RpcError): A2aFailure {
  const { status, name } = ERRORS[code] ?? UNKNOWN_ERROR
  return { ...agentFailure(status, name, message), code }
}

/** Translates an HTTP error: its status is kept (C-97), and an A2A error in its body gives the code and the message. */
export function failureOfResponse(
  response: Pick<HttpResponse, 'status' | 'headers'>,
  body: JsonValue | undefined,
): A2aFailure {
  const error = isObject(body) && isObject(body.error) ? body.error : body
  if (!isObject(error)) return httpFailure(response)
  const reason = asObjects(error.details)
    .map((detail) => asString(detail.reason) ?? '')
    .find((known) => REASONS[known])
  const code = REASONS[reason ?? ''] ?? readRpcError(error)?.code
  const name = code === undefined ? undefined : ERRORS[code]?.name
  return { ...httpFailure(response, name, asString(error.message)), ...(code !== undefined && { code }) }
}

/** The agent does not know the task, or not any more. */
export const isUnknownTask = ({ code, status }: A2aFailure): boolean =>
  code === undefined ? status === 404 : code === -32001

/** The task has already ended, or the agent does not let it be cancelled. */
export const isNotCancelable = ({ code, status }: A2aFailure): boolean =>
  code === undefined ? status === 409 : code === -32002

/** The agent does not support streaming and has done nothing; the request can safely be sent again without it. */
export const isUnsupported = ({ code, status }: A2aFailure): boolean =>
  code === undefined ? status === 404 || status === 405 || status === 501 : code === -32004 || code === -32601
