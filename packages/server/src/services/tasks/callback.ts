import type { JsonObject } from '@switchboard/protocol'
import { GatewayError } from '../../gateway/gateway.js'
import type { StoredTask } from '../../store/task-store.js'
import type { Signing } from '../identity/signing.js'
import { toTaskDocument } from './task-document.js'

/** What came of telling a webhook once. */
export type Delivery = 'delivered' | 'again' | 'refused'

export interface CallbackOptions {
  /** Guarded: the address is the caller's. */
  readonly fetch: typeof fetch
  readonly signing: Signing
}

/** Milliseconds for one attempt. */
const ATTEMPT_MS = 10_000
/** Answers after which it is worth trying again: too early, too often, or in trouble. */
const PASSING = new Set([408, 425, 429])

/** Tells a caller's webhook that its task is over: an event with type, ids, time and payload (AURI §8), signed (C-64). */
export function createCallback({ fetch, signing }: CallbackOptions) {
  return async (task: StoredTask, url: string, signal: AbortSignal): Promise<Delivery> => {
    const body = JSON.stringify(toEvent(task))
    const headers = signing.signRequest({ method: 'POST', url, contentType: 'application/json', body })
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)])
    try {
      const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'error', signal: limit })
      await answer.body?.cancel()
      if (answer.ok) return 'delivered'
      return answer.status >= 500 || PASSING.has(answer.status) ? 'again' : 'refused'
    } catch (error) {
      const isFinal = error instanceof GatewayError && (error.code === 'blocked' || error.code === 'loop')
      return isFinal ? 'refused' : 'again'
    }
  }
}

/** The id is the same for each attempt, so that a receiver can tell a repetition. */
function toEvent(task: StoredTask): JsonObject {
  const { id, status, agent, operation, updatedAt } = task
  const { callback: _callback, ...payload } = toTaskDocument(task)
  const ids = { id: `${id}.${status}`, taskId: id, agent: agent.id, operation }
  return { type: `task.${status}`, ...ids, time: new Date(updatedAt).toISOString(), payload }
}
