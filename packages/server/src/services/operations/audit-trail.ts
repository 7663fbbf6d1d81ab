import type { AuditEntry, AuditFilter, Store } from '../../store/store.js'

/** Milliseconds to collect entries before they are written: there are many calls, and every write costs. */
const WAIT_MS = 100
/** Entries in one write. */
const MAX_ENTRIES = 1000
/** Entries kept while the store is unavailable; beyond this limit the oldest are dropped. */
const MAX_WAITING = 50_000

/** The audit log. Entries of actions that change nothing else in the store, such as calls, are written in batches. */
export interface AuditTrail {
  add(entry: AuditEntry): void
  /** Newest first, including entries that were not written yet. */
  read(filter: AuditFilter): Promise<AuditEntry[]>
  /** Writes all added entries; resolves even if the store fails. */
  flush(): Promise<void>
  close(): Promise<void>
}

export function createAuditTrail(
  store: Pick<Store, 'appendAudit' | 'audit'>,
  onError: (error: unknown) => void,
): AuditTrail {
  let waiting: AuditEntry[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

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
    writing = writing.then(write).catch(onError)
    return writing
  }

  return {
    add(entry) {
      waiting.push(entry)
      if (waiting.length > MAX_WAITING) waiting.shift()
      timer ??= setTimeout(() => void flush(), WAIT_MS)
    },
    async read(filter) {
      await flush()
      return store.audit(filter)
    },
    flush,
    close: flush,
  }
}
