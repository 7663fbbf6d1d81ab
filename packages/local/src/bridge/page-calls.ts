import type { Right } from '../consents/consent.js'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'

/** What pages have under way, so that taking a consent back ends it. */
export interface PageCalls {
  /** Throws if the origin has too many calls under way. */
  begin(right: Right): { readonly signal: AbortSignal; end(): void }
  /** Ends the calls whose right is no longer given. */
  endUnless(isAllowed: (right: Right) => boolean): void
  /** Remembers who may ask for a deferred call. */
  addTask(id: string, right: Right): void
  taskOf(agent: string, id: string): Right | undefined
}

export function createPageCalls(): PageCalls {
  const running = new Map<AbortController, Right>()
  const tasks = new Map<string, Right>()
  return {
    begin(right) {
      const own = [...running.values()].filter(({ origin }) => origin === right.origin)
      if (own.length >= LIMITS.callsPerOrigin) {
        throw new LocalError('rate_limited', `a page may have ${LIMITS.callsPerOrigin} calls under way`)
      }
      const control = new AbortController()
      running.set(control, right)
      return { signal: control.signal, end: () => running.delete(control) }
    },
    endUnless(isAllowed) {
      for (const [control, right] of running) if (!isAllowed(right)) control.abort()
    },
    addTask(id, right) {
      tasks.set(keyOf(right.agent, id), right)
      const [oldest] = tasks.keys()
      if (tasks.size > LIMITS.tasks && oldest !== undefined) tasks.delete(oldest)
    },
    taskOf: (agent, id) => tasks.get(keyOf(agent, id)),
  }
}

/** Each agent has ids of its own. */
const keyOf = (agent: string, id: string): string => `${agent}/${id}`
