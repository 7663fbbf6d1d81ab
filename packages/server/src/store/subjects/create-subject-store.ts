import { isStorable, requireStorable } from '../storable.js'
import type { AuditEntry } from '../store.js'
import type { SubjectStore } from '../subject-store.js'
import { countRows, EXPORTED, readPage, type Steps } from './subject-statements.js'

/** What a driver does with the statements that both databases share. */
export interface SubjectDriver {
  readonly read: <T>(steps: Steps<T>) => Promise<T>
  /** Runs steps in one transaction, with an audit entry. */
  readonly erase: (subject: string, alias: string, audit: AuditEntry) => ReturnType<SubjectStore['erase']>
  readonly rename: (subject: string, to: string, audit: AuditEntry) => ReturnType<SubjectStore['rename']>
  readonly renameAuditRange: (
    subject: string,
    to: string,
    options: { after: number; keepAddresses: boolean },
  ) => Promise<{ changed: number; last: number | undefined }>
}

export function createSubjectStore({ read, erase, rename, renameAuditRange }: SubjectDriver): SubjectStore {
  return {
    async *read(subject) {
      if (!isStorable(subject)) return
      for (const table of EXPORTED) {
        for (let after: string | number | undefined; ; ) {
          const { items, last } = await read(readPage(table, subject, after))
          if (items.length > 0) yield items
          if (last === undefined) break
          after = last
        }
      }
    },
    count: async (subject) => (isStorable(subject) ? read(countRows(subject)) : {}),
    async erase(subject, alias, audit) {
      requireStorable(subject, alias)
      return erase(subject, alias, audit)
    },
    async rename(subject, to, audit) {
      requireStorable(subject, to)
      return rename(subject, to, audit)
    },
    async renameInAudit(subject, to, keepAddresses) {
      requireStorable(subject, to)
      let changed = 0
      for (let after: number | undefined = 0; after !== undefined; ) {
        const range: { changed: number; last: number | undefined } = await renameAuditRange(subject, to, {
          after,
          keepAddresses,
        })
        changed += range.changed
        after = range.last
      }
      return changed
    },
  }
}
