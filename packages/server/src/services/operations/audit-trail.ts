import { setImmediate } from 'node:timers/promises'
import { DirectoryError, type ErrorCode } from '@switchboard/protocol'
import { actorOf, type Caller, clientOf, networkOf } from '../../policy/caller.js'
import {
  type AuditEntry,
  type AuditFilter,
  type EntryFilter,
  type LoggedEntry,
  matchesAuditFilter,
  type Store,
} from '../../store/store.js'
import { type Coalescer, createCoalescer } from './coalesce.js'

/** Milliseconds to collect entries before they are written: there are many calls, and every write costs. */
const WAIT_MS = 100
/** Milliseconds before another attempt after the store failed. */
const RETRY_MS = 1000
/** Entries in one write. */
const MAX_ENTRIES = 1000
/** Entries kept while the store is unavailable; beyond this limit the oldest are dropped. */
const MAX_WAITING = 50_000
/** Characters of a refusal's reason. */
const MAX_REASON = 200
/** Characters of an agent's id; a refused request may name any. */
const MAX_ID = 512

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** What an entry says besides who acted and when. */
export interface Recorded {
  readonly agent?: string
  readonly outcome?: AuditEntry['outcome']
  readonly detail?: string
}

/** What was refused. */
export interface Refused {
  readonly action: string
  readonly agent?: string
  /** Method and path pattern of the request. */
  readonly route?: string
  /** Records an error with any code, because it means here that the action was refused. */
  readonly always?: boolean
  /** Does not merge those of a known subject, because their number is limited in another way. */
  readonly unmerged?: boolean
}

/**
 * The audit log. Changes write their entries together with what they change, in the store. The entries here are of
 * actions that change nothing else: they are written in batches, and merged where anybody could cause any number of them.
 */
export interface AuditTrail {
  /** Records an action. Those that were refused, and all of anonymous callers, are merged. */
  record(caller: Caller, action: string, about: Recorded): void
  /** Records an error if it is a refusal and was not recorded before, such as by the service that threw it. */
  refused(error: unknown, caller: Caller, about: Refused): void
  /** Records the first use of a credential by an address in an hour. */
  signedIn(caller: Caller): void
  /** Newest first, including entries that were not written yet. */
  read(filter: AuditFilter): Promise<LoggedEntry[]>
  /** The log from its start or after a cursor, oldest first, in pages; a page may be empty. Ends at the end of the log. */
  follow(cursor: string | undefined, filter: EntryFilter): AsyncGenerator<LoggedEntry[]>
  /** Writes all added entries; resolves even if the store fails. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface AuditTrailOptions {
  readonly store: Pick<Store, 'appendAudit' | 'audit' | 'auditAfter'>
  readonly now: () => number
  /** Whether refusals and sign-ins record the caller's IP address. */
  readonly addresses: boolean
  readonly onError: (error: unknown) => void
}

export function createAuditTrail({ store, now, addresses, onError }: AuditTrailOptions): AuditTrail {
  let waiting: AuditEntry[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let writing: Promise<void> = Promise.resolve()
  const recorded = new WeakSet<DirectoryError>()

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const entries = waiting.slice(0, MAX_ENTRIES)
      waiting = waiting.slice(MAX_ENTRIES)
      await store.appendAudit(entries).catch((error: unknown) => {
        waiting = [...entries, ...waiting].slice(-MAX_WAITING)
        throw error
      })
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write).catch((error: unknown) => {
      onError(error)
      if (!isClosed) timer ??= setTimeout(() => void flush(), RETRY_MS).unref()
    })
    return writing
  }
  const add = (entry: AuditEntry): void => {
    waiting.push(entry)
    if (waiting.length > MAX_WAITING) waiting.shift()
    timer ??= setTimeout(() => void flush(), WAIT_MS)
  }

  const perMinute = { write: add, now, windowMs: MINUTE_MS, withCounts: true }
  // Apart from each other, so that strangers cannot crowd out what known subjects do.
  const ofStrangers = createCoalescer({ ...perMinute, maxEntries: 5, maxSources: 200 })
  const ofSubjects = createCoalescer({ ...perMinute, maxEntries: 60, maxSources: 10_000 })
  const signIns = createCoalescer({
    ...perMinute,
    windowMs: HOUR_MS,
    withCounts: false,
    maxEntries: 60,
    maxSources: 10_000,
  })
  const coalescerOf = (caller: Caller): Coalescer => (caller.subject === undefined ? ofStrangers : ofSubjects)

  const entryOf = (caller: Caller, action: string, more: Partial<AuditEntry>): AuditEntry => ({
    at: now(),
    actor: actorOf(caller),
    action,
    outcome: 'ok',
    requestId: caller.requestId,
    ...more,
  })
  const addressOf = ({ address }: Caller): Pick<AuditEntry, 'address'> => (addresses ? { address } : {})

  return {
    record(caller, action, { outcome = 'ok', agent, detail }) {
      const about = { outcome, ...(agent !== undefined && { agent }), ...(detail !== undefined && { detail }) }
      if (outcome === 'ok' && caller.subject !== undefined) return add(entryOf(caller, action, about))
      const key = JSON.stringify([action, outcome, agent, detail])
      coalescerOf(caller).add(clientOf(caller), key, () => entryOf(caller, action, { ...about, ...addressOf(caller) }))
    },
    refused(error, caller, { action, agent, route, always = false, unmerged = false }) {
      if (!(error instanceof DirectoryError) || recorded.has(error)) return
      if (!always && !REFUSALS.has(error.code)) return
      recorded.add(error)
      const { code, message } = error
      const makeEntry = () =>
        entryOf(caller, action, {
          outcome: 'refused',
          detail: [code, route, EXPLAINED.has(code) && message.slice(0, MAX_REASON)].filter(Boolean).join(': '),
          ...(agent !== undefined && { agent: agent.slice(0, MAX_ID) }),
          ...addressOf(caller),
        })
      if (unmerged && caller.subject !== undefined) return add(makeEntry())
      // Not by the message: the reason of a rate limit names a time.
      coalescerOf(caller).add(clientOf(caller), JSON.stringify([action, code, agent, route]), makeEntry)
    },
    signedIn(caller) {
      const { kind, keyId } = caller
      // The directory itself, which runs the demo, has no key and does not sign in.
      if (kind === 'anonymous' || (kind === 'key' && keyId === undefined)) return
      signIns.add(clientOf(caller), `${kind} ${keyId} ${networkOf(caller.address)}`, () =>
        entryOf(caller, 'sign-in', { detail: kind === 'key' ? `key ${keyId}` : kind, ...addressOf(caller) }),
      )
    },
    async read(filter) {
      await flush()
      return store.audit(filter)
    },
    async *follow(cursor, filter) {
      await flush()
      for (let last = cursor; ; ) {
        const page = await store.auditAfter(last)
        if (page.length === 0) return
        yield page.filter(({ entry }) => matchesAuditFilter(entry, filter))
        last = page.at(-1)?.cursor
        // An embedded store reads in this thread: let other requests run between pages.
        await setImmediate()
      }
    },
    flush,
    async close() {
      isClosed = true
      ofStrangers.flush()
      ofSubjects.flush()
      signIns.flush()
      await flush()
    },
  }
}

/** Errors by which the directory refuses what a caller may not do. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unauthorized',
  'forbidden',
  'quota_exceeded',
  'rate_limited',
])
/** Errors whose message is recorded. Others may quote the request, which does not belong next to an identity. */
const EXPLAINED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([...REFUSALS, 'conflict'])
