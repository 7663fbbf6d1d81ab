import { isObject, type JsonValue } from '@switchboard/protocol'

/** Which client a request belongs to: clients number their requests from 0. */
export interface ClientSession {
  /** What `initialize` returned; null if the client sends none. */
  readonly id: string | null
  /** Who the caller is. */
  readonly client: string
}

/** Calls that clients of versions before 2026-07-28 can cancel with a notification; later ones close the connection. */
export interface Cancellations {
  /** Aborts the call that a notification cancels; false if the message is none. */
  cancel(session: ClientSession, message: JsonValue): boolean
  /** A signal that aborts when the client cancels the request; call `release` when it has been handled. */
  watch(session: ClientSession, requestId: string | number): { readonly signal: AbortSignal; release(): void }
}

export function createCancellations(): Cancellations {
  const running = new Map<string, AbortController>()
  const keyOf = ({ id, client }: ClientSession, requestId: JsonValue): string => JSON.stringify([id, client, requestId])
  return {
    cancel(session, message) {
      if (!isObject(message) || message.method !== 'notifications/cancelled') return false
      const requestId = isObject(message.params) ? message.params.requestId : undefined
      if (requestId !== undefined) running.get(keyOf(session, requestId))?.abort()
      return true
    },
    watch(session, requestId) {
      const controller = new AbortController()
      if (session.id === null) return { signal: controller.signal, release: () => {} }
      const key = keyOf(session, requestId)
      running.set(key, controller)
      return {
        signal: controller.signal,
        release: () => {
          if (running.get(key) === controller) running.delete(key)
        },
      }
    },
  }
}
