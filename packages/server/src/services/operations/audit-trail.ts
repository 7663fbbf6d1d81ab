import type { AuditEntry, Store } from '../../store/store.js'

/** Milliseconds that entries wait for company: calls are many, and each write to the store costs. */
const WAIT_MS = 100
/** Entries of one write. */
const MAX_ENTRIES = 1000
/** Entries that wait while the store does not answer; beyond it the oldest are given up. */
const MAX_WAITING = 50_000

/** Audit entries of what changes nothing in the store, such as calls: written together, soon after. */
export interface AuditTrail {
  add(entry: AuditEntry): void
  /** All that was added before is in the store when it resolves, unless the store fails. */
  flush(): Promise<void>
  close(): Promise<void>
}

export function createAuditTrail(store: Pick<Store, 'appendAudit'>, onError: (error: unknown) => void): AuditTrail {
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
    flush,
    close: flush,
  }
}
