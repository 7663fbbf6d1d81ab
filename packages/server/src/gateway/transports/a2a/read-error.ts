import { asObjects, asString, isObject, type JsonValue } from '@switchboard/protocol'
import { type AgentFailure, agentFailure, httpFailure } from '../rpc/agent-error.js'
import type { Asked } from '../rpc/ask.js'
import { type RpcError, readRpcError } from '../rpc/json-rpc.js'

/** Codes of JSON-RPC and of A2A §5.4 (1.0), the name that callers see, and the status of such an error. */
const ERRORS: Record<number, { status: number; name: string } | undefined> = {
  [-32700]: { status: 400, name: 'InvalidInput' },
  [-32600]: { status: 400, name: 'InvalidInput' },
  [-32601]: { status: 501, name: 'UnsupportedOperation' },
  [-32602]: { status: 400, name: 'InvalidInput' },
  [-32603]: { status: 500, name: 'AgentError' },
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

/** HTTP+JSON of 1.0 names the error by a reason instead. */
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

/** An error of A2A, and what it is to the caller. */
export interface A2aFailure extends AgentFailure {
  /** The protocol's own number for it, where there is one. */
  readonly code?: number
}

export function failureOf({ code, message }: RpcError): A2aFailure {
  const { status, name } = ERRORS[code] ?? { status: 500, name: 'AgentError' }
  return { ...agentFailure(status, name, message), code }
}

/** An answer with an error status keeps it (C-97); its body, if it is an error of A2A in any form, gives the reason. */
export function failureOfAnswer(answer: Pick<Asked, 'status' | 'headers'>, body: JsonValue | undefined): A2aFailure {
  const error = isObject(body) && isObject(body.error) ? body.error : body
  if (!isObject(error)) return httpFailure(answer)
  const reason = asObjects(error.details)
    .map((detail) => asString(detail.reason) ?? '')
    .find((word) => REASONS[word])
  const code = REASONS[reason ?? ''] ?? readRpcError(error)?.code
  const name = code === undefined ? undefined : ERRORS[code]?.name
  return { ...httpFailure(answer, name, asString(error.message)), ...(code !== undefined && { code }) }
}

/** Not found, or ended before the wish arrived: there is nothing left to cancel. */
export const isOver = ({ code, status }: A2aFailure): boolean =>
  code === undefined ? status === 404 || status === 409 : code === -32001 || code === -32002

/** Nothing was done because the agent does not stream: asking again without a stream is safe. */
export const isUnsupported = ({ code, status }: A2aFailure): boolean =>
  code === undefined ? status === 404 || status === 405 || status === 501 : code === -32004 || code === -32601
