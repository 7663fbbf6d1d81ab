import type { AuditEntry } from '../../store/store.js'

/** Merges entries that repeat, so that nobody can fill the audit log. */
export interface Coalescer {
  /** Occurrences of one source with the same key are the same for an auditor; only the first makes an entry. */
  add(source: string, key: string, makeEntry: () => AuditEntry): void
  /** Ends the window: writes how often the entries were repeated. */
  flush(): void
}

export interface CoalesceOptions {
  readonly write: (entry: AuditEntry) => void
  readonly now: () => number
  /** Milliseconds for which repetitions are merged. */
  readonly windowMs: number
  /** Different entries of one source in a window; further ones are merged by action and outcome. */
  readonly maxEntries: number
  /** Sources in a window; further ones are merged into one. */
  readonly maxSources: number
  /** Whether the end of a window adds an entry with the count of each that was repeated. */
  readonly withCounts: boolean
}

interface Merged {
  readonly entry: AuditEntry
  /** Occurrences after the first. */
  repeated: number
  lastAt: number
}

/**
 * Writes the first of equal entries at once, and the others as one entry with their count at the end of the window. That
 * bounds the entries of a window, by the numbers of sources and of different entries.
 */
export function createCoalescer(options: CoalesceOptions): Coalescer {
  const { write, now, windowMs, maxEntries, maxSources, withCounts } = options
  let sources = new Map<string, Map<string, Merged>>()
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const merged = [...sources.values()].flatMap((entries) => [...entries.values()])
    sources = new Map()
    if (!withCounts) return
    for (const { entry, repeated, lastAt } of merged) {
      if (repeated > 0) write({ ...entry, at: lastAt, count: repeated })
    }
  }

  const entriesOf = (source: string): Map<string, Merged> => {
    const known = sources.get(source)
    if (known) return known
    const entries = new Map<string, Merged>()
    sources.set(source, entries)
    return entries
  }

  const merge = (entries: Map<string, Merged>, key: string, makeEntry: () => AuditEntry): void => {
    const known = entries.get(key)
    if (known) {
      known.repeated++
      known.lastAt = now()
      return
    }
    const entry = makeEntry()
    entries.set(key, { entry, repeated: 0, lastAt: entry.at })
    write(entry)
  }

  return {
    add(source, key, makeEntry) {
      timer ??= setTimeout(flush, windowMs).unref()
      const isCrowded = !sources.has(source) && sources.size >= maxSources
      const entries = entriesOf(isCrowded ? REST : source)
      if (!isCrowded && (entries.has(key) || entries.size < maxEntries)) return merge(entries, key, makeEntry)
      const { at, actor, action, outcome } = makeEntry()
      const rest = { at, actor: isCrowded ? 'others' : actor, action, outcome, detail: REST_DETAIL }
      return merge(entries, `${REST} ${action} ${outcome}`, () => rest)
    },
    flush,
  }
}

/** No source and no key looks like this. */
const REST = '\0rest'
const REST_DETAIL = 'too many different ones to list separately'
