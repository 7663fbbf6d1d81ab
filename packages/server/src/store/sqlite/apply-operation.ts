import {
  type CurrentAgent,
  hasNewOwner,
  isConflict,
  leaseAfter,
  type PreparedChange,
  type PreparedPut,
  receivedAfter,
  timesAfterPut,
} from '../agent-write.js'
import { type AuditRow, auditValues } from '../audit-row.js'
import { DAY_MS } from '../limit-store.js'
import { toCurrentAgent, toIdempotencyState, toUsage } from '../rows.js'
import { MAX_CHOICES } from '../statistics-store.js'
import type { AdministeredKind, IdempotencyClaim, IdempotencyState, PruneBefore } from '../store.js'
import type { SubjectCounts } from '../subject-store.js'
import { eraseRows, renameAuditRange, renameRows, type Steps } from '../subjects/subject-statements.js'
import { createApplyStatistics } from './apply-statistics.js'
import { createApplyTasks } from './apply-tasks.js'
import { rowOf, type Sqlite, type Statement } from './database.js'
import type { AgentResult, Operation, OperationResult } from './operations.js'
import { prepareWrites } from './prepare-writes.js'
import { runSteps } from './subject-store.js'

/** Rows that one prune deletes from each table at most: a few milliseconds of work. */
const PRUNE_ROWS = 5000

export interface AppliedOperation {
  operation: Operation
  /** The agent's document as JSON text, for a put. */
  document: string | undefined
}

export interface ApplyOperation {
  /** Call it at the start of each transaction. */
  begin(): void
  apply(applied: AppliedOperation): OperationResult
}

/** Runs operations on a connection with an open transaction. */
export function createApplyOperation(db: Sqlite): ApplyOperation {
  const sql = prepareWrites(db)
  const tasks = createApplyTasks(db)
  const statistics = createApplyStatistics(db)
  let lastRevision = 0

  const readLastRevision = (): void => {
    lastRevision = Number(rowOf(sql.lastRevision)?.seq)
  }

  const logChange = (kind: string, at: number, agent?: { id: string; number: number }): void => {
    sql.insertChange.run([++lastRevision, kind, agent?.id, agent?.number, at])
  }

  const audit = (row: AuditRow): void => {
    sql.insertAudit.run(auditValues(row))
  }

  const writeAgent = (write: PreparedChange, document: string | undefined): AgentResult => {
    const row = rowOf(write.kind === 'refresh' ? sql.selectAgent : sql.selectCurrent, [write.id])
    const current = row && toCurrentAgent(row)
    if (isConflict(write, current)) return { outcome: 'conflict' }
    audit(write.audit)
    if (write.kind === 'put') return putAgent(write, document, current)
    const number = Number(row?.number)
    if (write.kind === 'refresh') {
      const { seconds, expiresAt } = leaseAfter(write, current) ?? {}
      const receivedAt = receivedAfter(write, current)
      sql.updatePresence.run([receivedAt, seconds, expiresAt, number])
      const stored = { received_at: receivedAt, lease_seconds: seconds, lease_expires_at: expiresAt }
      return { outcome: 'refreshed', row: { ...row, ...stored } }
    }
    sql.insertTombstone.run([write.reason, write.at, number])
    sql.deleteAgent.run([number])
    sql.deletePresence.run([number])
    sql.deleteVectors.run([number])
    logChange('remove', write.at, { id: write.id, number })
    return { outcome: 'removed' }
  }

  const putAgent = (put: PreparedPut, document: string | undefined, current: CurrentAgent | undefined): AgentResult => {
    const { id, owner, format, marks, at } = put
    const { createdAt, receivedAt } = timesAfterPut(put, current)
    const revision = lastRevision + 1
    let number: number
    if (current) {
      number = current.number
      sql.updateAgent.run([owner, format, document, marks, revision, at, number])
    } else {
      const { lastInsertRowid } = sql.insertAgent.run([id, owner, format, document, marks, revision, createdAt, at])
      number = Number(lastInsertRowid)
    }
    if (hasNewOwner(put, current)) for (const statement of sql.dropForeign) statement.run([id, owner])
    const lease = leaseAfter(put, current)
    sql.putPresence.run([number, receivedAt, lease?.seconds, lease?.expiresAt])
    logChange('put', at, { id, number })
    return { outcome: 'put', number, revision, createdAt, receivedAt, ...(lease && { lease }) }
  }

  /** Changes data that is read as a whole, such as keys, and writes change log and audit entries if a row was changed. */
  const administer = (
    kind: AdministeredKind,
    statement: Statement,
    parameters: unknown[],
    entry: AuditRow,
  ): boolean => {
    if (statement.run(parameters).changes === 0) return false
    logChange(kind, entry.at)
    audit(entry)
    return true
  }

  const changeSubject = (steps: Steps<SubjectCounts>, entry: AuditRow): SubjectCounts => {
    const counts = runSteps(db, steps)
    audit(entry)
    readLastRevision()
    return counts
  }

  const beginIdempotent = (claim: IdempotencyClaim): IdempotencyState => {
    const { client, agent, key, fingerprint, at, expiresAt } = claim
    const { changes } = sql.insertIdempotent.run([client, agent, key, fingerprint, at, expiresAt])
    if (changes > 0) return { state: 'begun' }
    return toIdempotencyState(rowOf(sql.selectIdempotent, [client, agent, key]) ?? {}, fingerprint)
  }

  const prune = (before: PruneBefore): boolean => {
    const deleted = [
      sql.pruneAudit.run([before.audit, PRUNE_ROWS]),
      sql.pruneTombstones.run([before.tombstones, PRUNE_ROWS]),
      sql.pruneIdempotency.run([before.idempotency, PRUNE_ROWS]),
      sql.pruneChanges.run([before.changes, PRUNE_ROWS]),
      sql.pruneTasks.run([before.tasks, PRUNE_ROWS]),
      sql.pruneStatistics.run([before.tombstones, PRUNE_ROWS]),
      sql.pruneChoices.run([before.tombstones, MAX_CHOICES, PRUNE_ROWS]),
      sql.pruneTrust.run([before.tasks, PRUNE_ROWS]),
      sql.pruneCopies.run([before.tasks, PRUNE_ROWS]),
      sql.pruneUsage.run([Math.floor(before.tasks / DAY_MS), PRUNE_ROWS]),
      ...sql.pruneOrphans.map((statement) => statement.run([PRUNE_ROWS])),
    ]
    return deleted.some(({ changes }) => changes === PRUNE_ROWS)
  }

  const apply = ({ operation, document }: AppliedOperation): OperationResult => {
    switch (operation.kind) {
      case 'writeAgent':
        return writeAgent(operation.change, document)
      case 'putKey': {
        const { id, hash, subject, scopes, names, createdAt, expiresAt } = operation.key
        const limits = names && JSON.stringify(names)
        const parameters = [id, hash, subject, JSON.stringify(scopes), limits, createdAt, expiresAt]
        return administer('keys', operation.onlyNew ? sql.insertKey : sql.putKey, parameters, operation.audit)
      }
      case 'deleteKey':
        return administer('keys', sql.deleteKey, [operation.id], operation.audit)
      case 'putGrant': {
        const { id, subject, scopes, agent, tag, createdAt } = operation.grant
        const parameters = [id, subject, JSON.stringify(scopes), agent?.id, agent?.owner, tag, createdAt]
        return administer('grants', sql.putGrant, parameters, operation.audit)
      }
      case 'deleteGrant':
        return administer('grants', sql.deleteGrant, [operation.id], operation.audit)
      case 'putVectors':
        for (const { number, model, digest, data } of operation.vectors) {
          sql.putVectors.run([model, digest, Buffer.from(data, 'base64'), number])
        }
        return true
      case 'appendAudit':
        operation.entries.forEach(audit)
        return true
      case 'beginIdempotent':
        return beginIdempotent(operation.claim)
      case 'finishIdempotent': {
        const { client, agent, key, at } = operation.hold
        const response = JSON.stringify(operation.response)
        return sql.finishIdempotent.run([response, operation.expiresAt, client, agent, key, at]).changes > 0
      }
      case 'abandonIdempotent': {
        const { client, agent, key, at } = operation.hold
        return sql.abandonIdempotent.run([client, agent, key, at]).changes > 0
      }
      case 'createTask':
        return tasks.create(operation.values, operation)
      case 'trimTasks':
        return tasks.trim(operation.owner, operation)
      case 'updateTask':
        return tasks.update(operation.changes, operation)
      case 'claimTasks':
        return tasks.claim(operation)
      case 'renewTasks':
        return tasks.renew(operation)
      case 'addCounts':
        for (const counts of operation.counts) statistics.add(counts, operation.halfLife)
        return true
      case 'addChoices':
        for (const choice of operation.choices) statistics.addChoice(choice, operation.halfLife)
        return true
      case 'rate':
        return statistics.rate(operation.rating)
      case 'putCredential': {
        const { agent, owner, secret, at } = operation.credential
        return administer('secrets', sql.putCredential, [agent, owner, secret, at], operation.audit)
      }
      case 'deleteCredential':
        return administer('secrets', sql.deleteCredential, [operation.agent], operation.audit)
      case 'putSigningKey': {
        const { id, publicKey, secret, createdAt } = operation.key
        return administer('secrets', sql.putSigningKey, [id, publicKey, secret, createdAt], operation.audit)
      }
      case 'deleteSigningKey':
        return administer('secrets', sql.deleteSigningKey, [operation.id], operation.audit)
      case 'putTrust': {
        const { kind, key, version, value, at, expiresAt } = operation.entry
        const [statement, parameters] =
          version === 0
            ? [sql.insertTrust, [kind, key, JSON.stringify(value), at, expiresAt]]
            : [sql.updateTrust, [JSON.stringify(value), at, expiresAt, kind, key, version]]
        if (operation.audit) return administer('trust', statement, parameters, operation.audit)
        return statement.run(parameters).changes > 0
      }
      case 'deleteTrust':
        return administer(
          'trust',
          sql.deleteTrust,
          [operation.about, operation.key, operation.version],
          operation.audit,
        )
      case 'putLimit': {
        const { id, kind, name, values, createdAt } = operation.limit
        return administer('limits', sql.putLimit, [id, kind, name, JSON.stringify(values), createdAt], operation.audit)
      }
      case 'deleteLimit':
        return administer('limits', sql.deleteLimit, [operation.id], operation.audit)
      case 'addUsage': {
        const { day, counts } = operation
        for (const { key, calls } of counts) sql.addUsage.run([day, key, calls])
        return counts.map(({ key }) => toUsage(rowOf(sql.selectUsage, [day, key]) ?? {}))
      }
      case 'putCopies':
        for (const { peer, agent, state, format, document, origin, seenAt, expiresAt } of operation.copies) {
          const texts = [JSON.stringify(document), JSON.stringify(origin)]
          sql.putCopy.run([peer, agent, state, format, ...texts, seenAt, expiresAt])
        }
        return true
      case 'deleteCopies':
        for (const agent of operation.agents) sql.deleteCopy.run([operation.peer, agent])
        return true
      case 'putSetting': {
        const { name, value, onlyNew } = operation
        const put = onlyNew ? sql.insertSetting : sql.putSetting
        put.run([name, value])
        return String(rowOf(sql.selectSetting, [name])?.value)
      }
      case 'eraseSubject':
        return changeSubject(eraseRows(operation.subject, operation.alias, operation.audit.at), operation.audit)
      case 'renameSubject':
        return changeSubject(renameRows(operation.subject, operation.to, operation.audit.at), operation.audit)
      case 'renameInAudit':
        return runSteps(db, renameAuditRange(operation.subject, operation.to, operation))
      case 'prune':
        return prune(operation.before)
    }
  }

  return {
    begin: readLastRevision,
    apply,
  }
}
