import type { JsonValue } from '@switchboard/protocol'
import { parseAnswer } from '../../http/read-stream.js'
import {
  type Ask,
  type Asked,
  askJson,
  badAnswer,
  isEvents,
  isJson,
  isSuccess,
  readEvents,
  readJson,
  readJsonIfAny,
} from '../rpc/ask.js'
import { readReply } from '../rpc/json-rpc.js'
import { type A2aFailure, failureOf, failureOfAnswer } from './read-error.js'
import { type A2aEvent, readEvent } from './read-event.js'
import type { A2aTarget } from './target.js'
import { type A2aAction, writeRequest } from './write-request.js'

export type A2aReply =
  | { readonly kind: 'event'; readonly event: A2aEvent }
  | { readonly kind: 'failure'; readonly failure: A2aFailure }

export interface ConverseDeps {
  readonly ask: Ask
  readonly newId: () => string
  readonly maxBytes: number
  readonly maxPartBytes: number
}

/** One exchange with an agent: what it replies is the same whatever generation and binding it speaks. */
export type Converse = (
  target: A2aTarget,
  action: A2aAction,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<A2aReply | AsyncGenerator<A2aReply, void>>

export function createConverse({ ask, newId, maxBytes, maxPartBytes }: ConverseDeps): Converse {
  return async (target, action, headers, signal) => {
    const id = newId()
    const answer = await askJson(ask, writeRequest(target, action, headers, id), signal)
    if (!isSuccess(answer)) {
      return { kind: 'failure', failure: failureOfAnswer(answer, await readJsonIfAny(answer, maxBytes)) }
    }
    if (isEvents(answer)) return readReplies(answer, target, id, maxPartBytes)
    if (!isJson(answer)) {
      answer.body.cancel()
      throw badAnswer('it is not JSON')
    }
    return readOne(await readJson(answer, maxBytes), target, id)
  }
}

async function* readReplies(
  answer: Asked,
  target: A2aTarget,
  id: string,
  maxPartBytes: number,
): AsyncGenerator<A2aReply, void> {
  for await (const { data, event } of readEvents(answer, maxPartBytes)) {
    const value = parseAnswer(data)
    // HTTP+JSON has no envelope: there the name of the event tells an error.
    if (event === 'error' && target.binding === 'http') {
      yield { kind: 'failure', failure: failureOfAnswer({ status: 500, headers: {} }, value) }
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
