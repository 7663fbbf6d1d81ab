import { join } from 'node:path'
import { agentAfterPut, prepareWrite } from '../agent-write.js'
import { toAuditRow } from '../audit-row.js'
import { AGENT_COLUMNS, toAgent, toGrant, toKey, toTombstone } from '../rows.js'
import { isStorable, requireStorable } from '../storable.js'
import type { Store } from '../store.js'
import { StoreError } from '../store-error.js'
import type { StoreHealth } from '../store-health.js'
import { createAuditLog } from './audit-log.js'
import { openDatabase, prepare, type Read, rowOf, rowsOf, type Sqlite, toStoreError } from './database.js'
import { createFederationStore } from './federation-store.js'
import { createLimitStore } from './limit-store.js'
import { loadAgents } from './load-agents.js'
import { lockFolder } from './lock-folder.js'
import { migrate } from './migrations.js'
import {
  createPrivateFile,
  createPrivateFolder,
  type ExposedFile,
  FILE,
  requireStore,
  restrictFiles,
} from './private-files.js'
import { createReadChanges } from './read-changes.js'
import { createReadVectors } from './read-vectors.js'
import { createSecretStore } from './secret-store.js'
import { startWriter } from './start-writer.js'
import { createStatisticsStore } from './statistics-store.js'
import { createSubjectStore } from './subject-store.js'
import { type SupervisedWriter, supervise } from './supervise.js'
import { createTaskStore } from './task-store.js'
import { createTrustStore } from './trust-store.js'

export interface SqliteStoreOptions {
  /** False for a command that may run beside a server on the same folder; the store must exist. Default: true. */
  lock?: boolean
  /** Supervises the store once it is open. */
  health?: StoreHealth
  /** Called for each file of the store that other users could read. */
  onExposed?: (file: ExposedFile) => void
}

/**
 * Opens the store in a folder, and creates the folder if it does not exist. Only its owner can read its files. Reads take microseconds and run in this
 * thread; writes run in a separate thread, many in one transaction.
 */
export async function openSqliteStore(folder: string, options: SqliteStoreOptions = {}): Promise<Store> {
  const { health } = options
  let release: (() => void) | undefined
  let db: Sqlite | undefined
  try {
    if (options.lock === false) requireStore(folder)
    createPrivateFolder(folder)
    for (const file of restrictFiles(folder)) options.onExposed?.(file)
    if (options.lock !== false) release = lockFolder(folder)
    createPrivateFile(join(folder, FILE))
    db = openDatabase(join(folder, FILE))
    migrate(db)
    // The process that held these tasks is gone: the lock makes us the only server of the folder.
    if (release) db.exec('UPDATE tasks SET held_until = 0 WHERE work IS NOT NULL')
    db.exec('PRAGMA query_only = ON')
    const writer = await startWriter(folder, FILE)
    const supervised = health && supervise(db, folder, writer, health)
    return createStore(folder, db, supervised ?? { ...writer, readFailed() {} }, release, health)
  } catch (error) {
    db?.close()
    release?.()
    throw toStoreError(error, folder)
  }
}

function createStore(
  folder: string,
  db: Sqlite,
  writer: SupervisedWriter,
  release: (() => void) | undefined,
  health: StoreHealth | undefined,
): Store {
  const selectAgent = prepare(db, `SELECT ${AGENT_COLUMNS} FROM agents a JOIN presence p USING (number) WHERE a.id = ?`)
  const tombstoneByNumber = prepare(db, 'SELECT * FROM tombstones WHERE number = ?')
  const tombstoneById = prepare(db, 'SELECT * FROM tombstones WHERE id = ? ORDER BY number DESC LIMIT 1')
  const selectKeys = prepare(db, 'SELECT * FROM keys ORDER BY created_at, id')
  const selectGrants = prepare(db, 'SELECT * FROM grants ORDER BY created_at, id')
  const readChanges = createReadChanges(db)
  const readVectors = createReadVectors(db)
  const readings = new Set<() => void>()
  let closing: Promise<void> | undefined

  const read: Read = async (get) => {
    if (closing) throw new StoreError('closed', 'the store is closed')
    try {
      return get()
    } catch (error) {
      const failure = toStoreError(error, folder)
      writer.readFailed(failure)
      throw failure
    }
  }

  const auditLog = createAuditLog(db, read)

  const close = async (): Promise<void> => {
    for (const end of readings) end()
    await writer.close()
    db.close()
    release?.()
  }

  return {
    load: () => read(() => loadAgents(join(folder, FILE), readings)),
    get: (id) =>
      read(() => {
        const row = isStorable(id) ? rowOf(selectAgent, [id]) : undefined
        return row && toAgent(row)
      }),
    clockAhead: async () => 0,
    async write(write) {
      health?.assertWritable()
      const { change, document } = prepareWrite(write)
      const result = await writer.run('writeAgent', { change }, document)
      if (result.outcome === 'conflict') return { outcome: 'conflict' }
      if (result.outcome === 'refreshed') return { outcome: 'done', agent: toAgent(result.row) }
      if (result.outcome === 'put' && write.kind === 'put') {
        return { outcome: 'done', agent: agentAfterPut(write, { lease: undefined, ...result }) }
      }
      return { outcome: 'done' }
    },
    tombstone: (of) =>
      read(() => {
        if ('id' in of && !isStorable(of.id)) return undefined
        const row = 'number' in of ? rowOf(tombstoneByNumber, [of.number]) : rowOf(tombstoneById, [of.id])
        return row && toTombstone(row)
      }),
    changes: (cursor) => read(() => readChanges(cursor)),

    keys: () => read(() => rowsOf(selectKeys).map(toKey)),
    async putKey(key, audit, onlyNew = false) {
      requireStorable(key.id, key.hash, key.subject)
      return writer.run('putKey', { key, audit: toAuditRow(audit), onlyNew })
    },
    async deleteKey(id, audit) {
      return isStorable(id) && writer.run('deleteKey', { id, audit: toAuditRow(audit) })
    },

    grants: () => read(() => rowsOf(selectGrants).map(toGrant)),
    async putGrant(grant, audit) {
      requireStorable(grant.id, grant.subject, grant.agent?.id, grant.agent?.owner, grant.tag)
      await writer.run('putGrant', { grant, audit: toAuditRow(audit) })
    },
    async deleteGrant(id, audit) {
      return isStorable(id) && writer.run('deleteGrant', { id, audit: toAuditRow(audit) })
    },

    async putVectors(vectors) {
      if (vectors.length === 0) return
      const asText = vectors.map((each) => ({ ...each, data: Buffer.from(each.data).toString('base64') }))
      await writer.run('putVectors', { vectors: asText })
    },
    async *vectors(model, numbers) {
      for (let after = 0; ; ) {
        const batch = await read(() => readVectors(model, numbers, after))
        if (batch.length === 0) return
        yield batch
        after = batch.at(-1)?.number ?? after
      }
    },

    async appendAudit(entries) {
      if (entries.length > 0) await writer.run('appendAudit', { entries: entries.map(toAuditRow) })
    },
    audit: auditLog.newest,
    auditAfter: auditLog.after,

    async beginIdempotent(claim) {
      requireStorable(claim.client, claim.agent, claim.key, claim.fingerprint)
      return writer.run('beginIdempotent', { claim })
    },
    async finishIdempotent(hold, response, expiresAt) {
      await writer.run('finishIdempotent', { hold, response, expiresAt })
    },
    async abandonIdempotent(hold) {
      await writer.run('abandonIdempotent', { hold })
    },

    async putSetting(name, value, onlyNew) {
      requireStorable(name, value)
      return writer.run('putSetting', { name, value, onlyNew })
    },

    tasks: createTaskStore(db, read, writer),
    statistics: createStatisticsStore(db, read, writer),
    secrets: createSecretStore(db, read, writer),
    trust: createTrustStore(db, read, writer),
    limits: createLimitStore(db, read, writer),
    subjects: createSubjectStore(db, read, writer),
    federation: createFederationStore(db, read, writer),
    replicas: undefined,

    async prune(before) {
      while (await writer.run('prune', { before }));
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
