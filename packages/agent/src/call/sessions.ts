import type { JsonValue } from '@switchboard/protocol'
import { ExpiringMap } from '../expiring-map.js'

/** What calls with the same X-Session-ID of the same caller share (AURI §8.1). */
export interface Session {
  readonly id: string
  /** Kept in memory until the session has been silent for its lifetime. */
  readonly data: Map<string, JsonValue>
}

export interface Sessions {
  /** The session of that id; a new one if it is not known, or no longer. */
  open(id: string, owner: string): Session
  /** Seconds without a call after which a session is forgotten. */
  readonly lifetime: number
}

export interface SessionOptions {
  /** Seconds; half an hour unless told. */
  readonly lifetime?: number
  /** Sessions at once; the one that was silent longest is forgotten first. */
  readonly max?: number
}

export function createSessions(now: () => number, { lifetime = 1800, max = 10_000 }: SessionOptions = {}): Sessions {
  const sessions = new ExpiringMap<Session>({ now, max })
  return {
    lifetime,
    open(id, owner) {
      // A stranger who knows the id gets a session of their own.
      const key = JSON.stringify([owner, id])
      const session = sessions.get(key) ?? { id, data: new Map() }
      sessions.set(key, session, lifetime * 1000)
      return session
    },
  }
}
