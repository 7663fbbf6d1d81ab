import type { JsonObject } from '@switchboard/protocol'
import { type AddressRules, checkUrl, guardedRequest } from '../guarded-request.js'
import type { Runtime } from '../runtime.js'
import type { MessageSigner } from '../signing/message-signer.js'
import { type Task, toTaskDocument } from './task.js'

/** Delivery attempts, and milliseconds before the second one; the delay doubles each time. */
const ATTEMPTS = 5
const FIRST_WAIT_MS = 1000
/** Statuses after which a retry makes sense, besides those from 500 on. */
const RETRYABLE = new Set([408, 425, 429])

export interface WebhookOptions {
  readonly runtime: Runtime
  readonly agent: string
  readonly rules: AddressRules
  readonly signer?: MessageSigner
  readonly onError: (error: unknown) => void
}

/** Notifies callers' webhooks when their task has finished (AURI §8). */
export interface Webhook {
  /** Throws if the URL is not allowed. */
  check(url: string): void
  notify(url: string, task: Task, signal: AbortSignal): Promise<void>
}

export function createWebhook({ runtime, agent, rules, signer, onError }: WebhookOptions): Webhook {
  const deliver = async (url: string, body: string, signal: AbortSignal): Promise<boolean> => {
    const type = 'application/json'
    const parts = [
      { name: '@method', value: 'POST' },
      { name: '@target-uri', value: new URL(url).href },
      { name: 'content-type', value: type },
    ]
    const headers = { 'content-type': type, ...signer?.sign(parts, body) }
    const { status } = await guardedRequest({ method: 'POST', url, headers, body, signal, maxBytes: 65_536 }, rules)
    return status < 500 && !RETRYABLE.has(status)
  }
  return {
    check(url) {
      checkUrl(url, rules)
    },
    async notify(url, task, signal) {
      const body = JSON.stringify(toEvent(task, agent))
      let failure: unknown
      for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
        if (attempt > 0) await runtime.sleep(FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + runtime.random() / 2), signal)
        try {
          if (await deliver(url, body, signal)) return
        } catch (error) {
          failure = error
        }
      }
      if (!signal.aborted)
        onError(new Error(`the webhook of task ${task.id} could not be delivered`, { cause: failure }))
    },
  }
}

/** The id is the same for every attempt, so that receivers can detect duplicates. */
function toEvent(task: Task, agent: string): JsonObject {
  const { id, status, capability, updatedAt } = task
  return {
    type: `task.${status}`,
    id: `${id}.${status}`,
    taskId: id,
    agent,
    operation: capability,
    time: new Date(updatedAt).toISOString(),
    payload: toTaskDocument(task),
  }
}
