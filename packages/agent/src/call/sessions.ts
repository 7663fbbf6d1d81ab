import type { JsonValue } from '@switchboard/protocol'
import { ExpiringMap } from '../expiring-map.js'

/** State that calls of the same caller with the same X-Session-ID share (AURI §8.1). */
export interface Session {
  readonly id: string
  /** In memory, until the session expires. */
  readonly data: Map<string, JsonValue>
}

export interface Sessions {
  /** The session with that id; a new one if it is unknown or has expired. */
  open(id: string, owner: string): Session
  /** Seconds until a session without calls expires. */
  readonly lifetime: number
}

export interface SessionOptions {
  /** Seconds until a session without calls expires. Default: 1800. */
  readonly lifetime?: number
  /** Maximum number of sessions; the least recently used is evicted first. Default: 10,000. */
  readonly max?: number
}

export function createSessions(
  monotonic: () => number,
  { lifetime = 1800, max = 10_000 }: SessionOptions = {},
): Sessions {
  const sessions = new ExpiringMap<Session>({ monotonic, max })
  return {
    lifetime,
    open(id, owner) {
      // Another caller who knows the id gets a separate session.
      const key = JSON.stringify([owner, id])
      const session = sessions.get(key) ?? { id, data: new Map() }
      sessions.set(key, session, lifetime * 1000)
      return session
    },
  }
}
