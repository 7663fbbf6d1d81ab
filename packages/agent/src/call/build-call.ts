import { asString, isObject, type JsonValue } from '@switchboard/protocol'
import type { Caller } from '../auth/caller.js'
import { hasMember } from '../capability.js'
import { invalidInput } from '../errors.js'
import type { Versions } from '../versions.js'
import type { Call } from './call.js'
import { agree, chooseCapability, takeWords } from './read-words.js'

type Word = string | null | undefined

/** A call as it was asked for: each identifier from every place where it may stand (C-63). */
export interface Asked {
  readonly capability: string | undefined
  readonly input: JsonValue
  readonly caller: Caller
  readonly base: string
  readonly requestId: string
  /** From headers, paths and envelopes. */
  readonly versions: readonly Word[]
  readonly sessionIds: readonly Word[]
  readonly taskIds: readonly Word[]
  /** Where the same words may also be input (C-89). */
  readonly query?: URLSearchParams
  readonly idempotencyKey: Word
  readonly delegationChain: Word
  /** By what the caller takes; the word `stream` in the input asks for it too. */
  readonly wantsStream: boolean
  readonly signal: AbortSignal
}

/** Finds out which capability of which version is called, and takes the words of the call out of its input. */
export function buildCall(versions: Versions, asked: Asked): Call {
  const { query } = asked
  const inQuery = (name: string): Word => {
    const latest = asked.capability === undefined ? undefined : versions.latest.capabilities.get(asked.capability)
    return latest && hasMember(latest, name) ? undefined : query?.get(name)
  }
  const wanted = agree('version', ...asked.versions, inQuery('version'))
  const { version, capabilities } = versions.choose(wanted)
  const chosen = chooseCapability(capabilities, asked.capability, asked.input)
  const { words, input } = takeWords(chosen.capability, chosen.input, ['stream', 'sessionId', 'taskId'])
  const sessionId = agree('sessionId', ...asked.sessionIds, inQuery('sessionId'), textOf(words.sessionId, 'sessionId'))
  const taskId = agree('taskId', ...asked.taskIds, inQuery('taskId'), textOf(words.taskId, 'taskId'))
  const idempotencyKey = agree('Idempotency-Key', asked.idempotencyKey)
  const { caller, base, requestId, delegationChain, signal } = asked
  return {
    capability: chosen.capability,
    version,
    input,
    caller,
    requestId,
    base,
    wantsStream: asked.wantsStream || words.stream === true,
    signal,
    ...(sessionId !== undefined && { sessionId }),
    ...(taskId !== undefined && { taskId }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(typeof delegationChain === 'string' && { delegationChain }),
  }
}

function textOf(value: JsonValue | undefined, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw invalidInput([{ at: `/${name}`, message: 'must be a string' }])
}

/** A request id that came along, if it is one (C-74). */
export const requestIdOf = (given: JsonValue | null | undefined, newId: () => string): string => {
  const text = asString(given ?? undefined)
  return text !== undefined && /^[\w.:@/+=-]{1,128}$/.test(text) ? text : newId()
}

/** The names of an object that are texts, for envelopes. */
export const textIn = (envelope: JsonValue, name: string): string | undefined =>
  isObject(envelope) && Object.hasOwn(envelope, name) ? textOf(envelope[name], name) : undefined
