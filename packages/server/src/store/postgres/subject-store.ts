import { toAuditRow } from '../audit-row.js'
import type { AuditEntry } from '../store.js'
import type { SubjectStore } from '../subject-store.js'
import { createSubjectStore as create } from '../subjects/create-subject-store.js'
import { bind, eraseRows, renameAuditRange, renameRows, type Steps } from '../subjects/subject-statements.js'
import { insertAudit } from './administer.js'
import type { Connection, Query } from './connect.js'

/** Whoever writes an agent locks this row first. */
const LOCK = `
  SELECT p.number FROM agents a JOIN presence p USING (number) WHERE a.owner = $1 ORDER BY p.number FOR UPDATE OF p`

async function runSteps<T>(query: Query, steps: Steps<T>): Promise<T> {
  let step = steps.next()
  while (!step.done) step = steps.next(await query(...bind(step.value, '$')))
  return step.value
}

export function createSubjectStore(connection: Connection): SubjectStore {
  const change = <T>(subject: string, steps: Steps<T>, audit: AuditEntry): Promise<T> =>
    connection.transaction(async (query) => {
      await query(LOCK, [subject])
      const result = await runSteps(query, steps)
      await query(insertAudit('$1'), [JSON.stringify([toAuditRow(audit)])])
      return result
    })
  return create({
    read: (steps) => runSteps(connection.query, steps),
    erase: (subject, alias, audit) => change(subject, eraseRows(subject, alias, audit.at), audit),
    rename: (subject, to, audit) => change(subject, renameRows(subject, to, audit.at), audit),
    renameAuditRange: (subject, to, options) =>
      connection.transaction((query) => runSteps(query, renameAuditRange(subject, to, options))),
  })
}
