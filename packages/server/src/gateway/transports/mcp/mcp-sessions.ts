import { createHash } from 'node:crypto'
import type { CancelSignal } from '../../../cancellation.js'
import { unlessAborted, withTimeout } from '../../resilience/with-timeout.js'
import type { McpClient, McpTarget } from './mcp-client.js'
import { type McpEra, type OpenedSession, openSession } from './open-session.js'
import { STATELESS_VERSION } from './versions.js'

/** Sessions with MCP servers, each shared by many calls. */
export interface McpSessions {
  /** Opens a session with this server for this caller and credential, or reuses an open one. */
  open(target: Omit<McpTarget, 'session'>, signal: CancelSignal): Promise<OpenedSession>
  /** Drops a session that the server no longer knows; the next call opens a new one. */
  drop(target: Omit<McpTarget, 'session'>, lost: OpenedSession): void
}

export interface SessionDeps {
  readonly client: McpClient
  readonly newId: () => string
  readonly monotonic: () => number
  /** Sessions kept; the least recently used is dropped first. */
  readonly limit?: number
}

const MAX_SESSIONS = 1000
/** Milliseconds; servers end idle sessions too, and unused credentials should not stay in memory. */
const IDLE_MS = 600_000
const OPEN_TIMEOUT_MS = 10_000

/** Headers that differ between the calls of one caller; they are not part of the key of a session. */
const PER_CALL_HEADERS: ReadonlySet<string> = new Set([
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

/** Keeps sessions by server, caller and credential. */
export function createMcpSessions({ client, newId, monotonic, limit = MAX_SESSIONS }: SessionDeps): McpSessions {
  // In the order of last use, so that the expired sessions come first; an LRU cache would have to check them all.
  const entries = new Map<string, Entry>()
  // The era of a server is the same for all callers. By URL; the oldest is dropped first.
  const eras = new Map<string, McpEra>()
  const learnEra = (key: string, { session }: Extract<OpenedSession, { kind: 'session' }>): void => {
    eras.delete(key)
    eras.set(key, session.version === STATELESS_VERSION ? 'stateless' : 'handshake')
    for (const oldest of eras.keys()) {
      if (eras.size <= limit) return
      eras.delete(oldest)
    }
  }

  const evict = (): void => {
    for (const [key, entry] of entries) {
      if (entries.size <= limit && monotonic() - entry.usedAt < IDLE_MS) return
      // The session is not ended at the server: a call may still be using it.
      entries.delete(key)
    }
  }
  const start = (key: string, target: McpTarget): Entry => {
    // The caller's signal does not abort this: other callers may be waiting for the same session.
    const era = keyOf({ url: target.url, headers: {} })
    const opening = withTimeout(OPEN_TIMEOUT_MS, (signal) =>
      openSession({ client, newId }, target, signal, eras.get(era)),
    )
    const entry: Entry = { opening, usedAt: monotonic() }
    const remove = (): void => {
      if (entries.get(key) === entry) entries.delete(key)
    }
    opening.then((opened) => {
      entry.opened = opened
      if (opened.kind === 'session') return learnEra(era, opened)
      // The server may have moved to another version: the next call finds out.
      eras.delete(era)
      remove()
    }, remove)
    return entry
  }

  return {
    open({ url, headers, caller }, signal) {
      const target = { url, headers: withoutPerCallHeaders(headers) }
      const key = keyOf(target, caller)
      evict()
      const entry = entries.get(key) ?? start(key, target)
      entry.usedAt = monotonic()
      entries.delete(key)
      entries.set(key, entry)
      evict()
      return unlessAborted(entry.opening, signal)
    },
    drop({ url, headers, caller }, lost) {
      const key = keyOf({ url, headers: withoutPerCallHeaders(headers) }, caller)
      // If several calls lost the session at once, the first has already opened a new one.
      if (entries.get(key)?.opened !== lost) return
      entries.delete(key)
      if (lost.kind === 'session' && lost.session.version === STATELESS_VERSION)
        eras.delete(keyOf({ url, headers: {} }))
    },
  }
}

const withoutPerCallHeaders = (headers: McpTarget['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !PER_CALL_HEADERS.has(name.toLowerCase())))

function keyOf({ url, headers }: McpTarget, caller = ''): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([url, sorted, caller]))
    .digest('base64')
}
