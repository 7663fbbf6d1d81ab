import { toAuditRow } from '../audit-row.js'
import type { SubjectStore } from '../subject-store.js'
import { createSubjectStore as create } from '../subjects/create-subject-store.js'
import { bind, type Steps } from '../subjects/subject-statements.js'
import { prepare, type Read, rowsOf, type Sqlite } from './database.js'
import type { Writer } from './start-writer.js'

/** Runs statements that both databases share. */
export function runSteps<T>(db: Sqlite, steps: Steps<T>): T {
  let step = steps.next()
  while (!step.done) {
    const [sql, parameters] = bind(step.value, '?')
    step = steps.next(rowsOf(prepare(db, sql), parameters))
  }
  return step.value
}

export const createSubjectStore = (db: Sqlite, read: Read, writer: Writer): SubjectStore =>
  create({
    read: (steps) => read(() => runSteps(db, steps)),
    erase: (subject, alias, audit) => writer.run('eraseSubject', { subject, alias, audit: toAuditRow(audit) }),
    rename: (subject, to, audit) => writer.run('renameSubject', { subject, to, audit: toAuditRow(audit) }),
    async renameAuditRange(subject, to, { after, keepAddresses }) {
      const { changed, last } = await writer.run('renameInAudit', { subject, to, after, keepAddresses })
      return { changed, last }
    },
  })
