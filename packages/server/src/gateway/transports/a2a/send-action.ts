import type { JsonValue } from '@switchboard/protocol'
import type { CancelSignal } from '../../../cancellation.js'
import { parseResponseJson, readEvents } from '../../http/read-stream.js'
import type { HttpResponse, SendRequest } from '../../http/send-request.js'
import { readReply } from '../rpc/json-rpc.js'
import {
  isEventStream,
  isSuccess,
  type JsonRequest,
  type JsonResponseLimits,
  readJsonIfAny,
  requireJson,
  sendJson,
} from '../rpc/send-json.js'
import { type A2aFailure, failureOf, failureOfResponse } from './read-error.js'
import { type A2aEvent, readEvent } from './read-event.js'
import type { A2aTarget } from './target.js'
import { type A2aAction, writeRequest } from './write-request.js'

/** A result or an error of an agent. */
export type A2aReply =
  | { readonly kind: 'event'; readonly event: A2aEvent }
  | { readonly kind: 'failure'; readonly failure: A2aFailure }

/** A stream of replies. */
export interface A2aReplies {
  readonly kind: 'replies'
  next(): Promise<IteratorResult<A2aReply, void>>
  /** Closes the connection, also during a read. */
  close(): void
}

export interface SendActionDeps extends JsonResponseLimits {
  readonly sendRequest: SendRequest
  readonly newId: () => string
}

export interface SendOptions extends Pick<JsonRequest, 'headers' | 'silenceMs' | 'onSent'> {
  readonly signal: CancelSignal
  /** Most bytes of one event of a stream; default: of a whole response. */
  readonly maxPartBytes?: number
}

/** Sends one request and reads its reply or stream of replies, which are the same for all versions and bindings. */
export type SendAction = (target: A2aTarget, action: A2aAction, options: SendOptions) => Promise<A2aReply | A2aReplies>

export function createSendAction({ sendRequest, newId, ...limits }: SendActionDeps): SendAction {
  return async (target, action, { headers, signal, silenceMs, onSent, maxPartBytes = limits.maxBytes }) => {
    const id = newId()
    const written = writeRequest(target, action, headers, id)
    const request = { ...written, ...(silenceMs !== undefined && { silenceMs }), ...(onSent && { onSent }) }
    const response = await sendJson(sendRequest, request, signal)
    if (!isSuccess(response)) {
      return { kind: 'failure', failure: failureOfResponse(response, await readJsonIfAny(response, limits)) }
    }
    if (!isEventStream(response)) return readOne(await requireJson(response, limits), target, id)
    const replies = readReplies(response, target, id, { ...limits, maxBytes: maxPartBytes })
    return { kind: 'replies', next: () => replies.next(), close: () => response.body.cancel() }
  }
}
async function* readReplies(
  { body }: HttpResponse,
  target: A2aTarget,
  id: string,
  { maxBytes, maxValues }: JsonResponseLimits,
): AsyncGenerator<A2aReply, void> {
  for await (const { data, event } of readEvents(body, maxBytes)) {
    const value = parseResponseJson(data, maxValues)
    // HTTP+JSON has no envelope: only the name of the event marks an error.
    if (event === 'error' && target.binding === 'http') {
      yield { kind: 'failure', failure: failureOfResponse({ status: 500, headers: {} }, value) }
    } else yield readOne(value, target, id)
  }
}

function readOne(value: JsonValue, target: A2aTarget, id: string): A2aReply {
  if (target.binding === 'http') return { kind: 'event', event: readEvent(value, target.version === '0.3') }
  const reply = readReply(value, id)
  return 'error' in reply
    ? { kind: 'failure', failure: failureOf(reply.error) }
    : { kind: 'event', event: readEvent(reply.result) }
}
