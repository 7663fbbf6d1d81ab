import { createHash } from 'node:crypto'
import { unlessAborted, withTimeLimit } from '../rpc/time-limit.js'
import type { McpDialogue, McpPlace } from './dialogue.js'
import { type OpenedSession, openSession } from './open-session.js'

/** Sessions with servers, opened once and used by many calls. */
export interface McpSessions {
  /** The session for that server and credential. */
  open(place: Omit<McpPlace, 'session'>, signal: AbortSignal): Promise<OpenedSession>
  /** The server no longer knows this one: the next call opens another. */
  forget(place: Omit<McpPlace, 'session'>, lost: OpenedSession): void
}

export interface SessionDeps {
  readonly dialogue: McpDialogue
  readonly newId: () => string
  readonly now: () => number
  readonly limit?: number
}

const MAX_SESSIONS = 1000
/** Milliseconds without a call; servers give idle sessions up, and nobody's credential is kept for nothing. */
const IDLE_MS = 600_000
const OPEN_TIMEOUT_MS = 10_000

/** Headers of one call, not of the one who calls: they do not tell sessions apart. */
const OF_ONE_CALL: ReadonlySet<string> = new Set([
  'accept',
  'baggage',
  'content-type',
  'idempotency-key',
  'traceparent',
  'tracestate',
  'via',
  'x-request-id',
  'x-task-id',
])

interface Entry {
  readonly opening: Promise<OpenedSession>
  opened?: OpenedSession
  usedAt: number
}

export function createMcpSessions({ dialogue, newId, now, limit = MAX_SESSIONS }: SessionDeps): McpSessions {
  /** In the order of their last use. */
  const entries = new Map<string, Entry>()

  const shrink = (): void => {
    for (const [key, entry] of entries) {
      if (entries.size <= limit && now() - entry.usedAt < IDLE_MS) return
      // Without a farewell: a call may still be under way in it.
      entries.delete(key)
    }
  }
  const start = (key: string, place: Omit<McpPlace, 'session'>): Entry => {
    // Not ended by the caller's signal: others may wait for the same session.
    const opening = withTimeLimit(OPEN_TIMEOUT_MS, (signal) => openSession(dialogue, place, newId(), signal))
    const entry: Entry = { opening, usedAt: now() }
    const giveUp = (): void => {
      if (entries.get(key) === entry) entries.delete(key)
    }
    opening.then((opened) => {
      entry.opened = opened
      if (opened.kind === 'failure') giveUp()
    }, giveUp)
    return entry
  }

  return {
    open({ endpoint, headers, caller }, signal) {
      const place = { endpoint, headers: ofCaller(headers) }
      const key = keyOf(place, caller)
      shrink()
      const entry = entries.get(key) ?? start(key, place)
      entry.usedAt = now()
      entries.delete(key)
      entries.set(key, entry)
      shrink()
      return unlessAborted(entry.opening, signal)
    },
    forget({ endpoint, headers, caller }, lost) {
      const key = keyOf({ endpoint, headers: ofCaller(headers) }, caller)
      // Of many calls that lost it at once, the first has opened another already.
      if (entries.get(key)?.opened === lost) entries.delete(key)
    },
  }
}

const ofCaller = (headers: McpPlace['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_CALL.has(name.toLowerCase())))

/** A session belongs to who opened it: another caller or another credential, another session. */
function keyOf({ endpoint, headers }: Omit<McpPlace, 'session'>, caller = ''): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([endpoint, sorted, caller]))
    .digest('base64')
}
