import type { JsonObject } from '@switchboard/protocol'
import { GatewayError } from '../../gateway/gateway.js'
import type { StoredTask } from '../../store/task-store.js'
import type { Signing } from '../identity/signing.js'
import { toTaskDocument } from './task-document.js'

/** The outcome of one attempt to notify a webhook. */
export type Delivery = 'delivered' | 'retry' | 'failed'

export interface CallbackOptions {
  /** Guarded, because the URL comes from the caller. */
  readonly fetch: typeof fetch
  readonly signing: Signing
}

/** Milliseconds for one attempt. */
const TIMEOUT_MS = 10_000
/** Client errors that are temporary; so is every 5xx. */
const TEMPORARY = new Set([408, 425, 429])

/** Notifies a caller's webhook that its task has ended: a signed event with type, ids, time and payload (AURI §8, C-64). */
export function createCallback({ fetch, signing }: CallbackOptions) {
  return async (task: StoredTask, url: string, signal: AbortSignal): Promise<Delivery> => {
    const body = JSON.stringify(toEvent(task))
    const headers = signing.signRequest({ method: 'POST', url, contentType: 'application/json', body })
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
    try {
      const response = await fetch(url, { method: 'POST', body, headers, redirect: 'error', signal: limit })
      await response.body?.cancel()
      if (response.ok) return 'delivered'
      return response.status >= 500 || TEMPORARY.has(response.status) ? 'retry' : 'failed'
    } catch (error) {
      const isFinal = error instanceof GatewayError && (error.code === 'blocked' || error.code === 'loop')
      return isFinal ? 'failed' : 'retry'
    }
  }
}

/** The id is the same for every attempt, so that the receiver can recognise repetitions. */
function toEvent(task: StoredTask): JsonObject {
  const { id, status, agent, operation, updatedAt } = task
  const { callback: _callback, ...payload } = toTaskDocument(task)
  const ids = { id: `${id}.${status}`, taskId: id, agent: agent.id, operation }
  return { type: `task.${status}`, ...ids, time: new Date(updatedAt).toISOString(), payload }
}
