import type { Permission } from '../consents/consent.js'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'

/** The running and deferred calls of web pages, so that revoking a consent can end them. */
export interface PageCalls {
  /** Throws if the origin has too many concurrent calls. */
  begin(permission: Permission): { readonly signal: AbortSignal; end(): void }
  /** Aborts the running calls that are no longer allowed. */
  abortUnless(isAllowed: (permission: Permission) => boolean): void
  /** Stores the permission under which a deferred call was started. */
  addTask(id: string, permission: Permission): void
  taskOf(agent: string, id: string): Permission | undefined
}

export function createPageCalls(): PageCalls {
  const running = new Map<AbortController, Permission>()
  const tasks = new Map<string, Permission>()
  return {
    begin(permission) {
      const own = [...running.values()].filter(({ origin }) => origin === permission.origin)
      if (own.length >= LIMITS.callsPerOrigin) {
        throw new LocalError(
          'rate_limited',
          `an origin may have ${LIMITS.callsPerOrigin} calls at a time: wait for one`,
        )
      }
      const control = new AbortController()
      running.set(control, permission)
      return { signal: control.signal, end: () => running.delete(control) }
    },
    abortUnless(isAllowed) {
      for (const [control, permission] of running) if (!isAllowed(permission)) control.abort()
    },
    addTask(id, permission) {
      tasks.set(keyOf(permission.agent, id), permission)
      const [oldest] = tasks.keys()
      if (tasks.size > LIMITS.tasks && oldest !== undefined) tasks.delete(oldest)
    },
    taskOf: (agent, id) => tasks.get(keyOf(agent, id)),
  }
}

/** Task ids are unique per agent only. */
const keyOf = (agent: string, id: string): string => `${agent}/${id}`
