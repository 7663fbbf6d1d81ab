import { prepareWrite } from '../agent-write.js'
import { toAuditRow } from '../audit-row.js'
import { createGroupCommit } from '../group-commit.js'
import { AGENT_COLUMNS, toAgent, toGrant, toKey, toTombstone } from '../rows.js'
import { isStorable, requireStorable } from '../storable.js'
import type { Store, WriteResult } from '../store.js'
import type { StoreHealth } from '../store-health.js'
import { administer, insertAudit } from './administer.js'
import { auditAfter, newestAudit } from './audit-log.js'
import { type Connection, connect } from './connect.js'
import { createFederationStore } from './federation-store.js'
import { beginIdempotent } from './idempotency.js'
import { createLimitStore } from './limit-store.js'
import { loadAgents } from './load-agents.js'
import { migrate } from './migrations.js'
import { prune } from './prune.js'
import { readChanges } from './read-changes.js'
import { createReplicaStore } from './replica-store.js'
import { createSecretStore } from './secret-store.js'
import { createStatisticsStore } from './statistics-store.js'
import { createSubjectStore } from './subject-store.js'
import { supervise } from './supervise.js'
import { createTaskStore } from './task-store.js'
import { createTrustStore } from './trust-store.js'
import { putVectors, readVectors } from './vectors.js'
import { type PendingWrite, settleAgentWrites } from './write-agents.js'

export interface PostgresStoreOptions {
  /** Maximum number of connections. Default: 10. */
  connections?: number
  /** Supervises the store once it is open. */
  health?: StoreHealth
}

const CONNECTIONS = 10
/** Concurrent batches: the server shares an fsync between them, and a slow one does not delay the others. */
const LANES = 3
const MAX_BATCH = 256
/** Milliseconds: creating an index on a large table takes a while. */
const MIGRATION_TIMEOUT = 600_000

/** Opens the store in a PostgreSQL database, in the first schema on its search path. */
export async function openPostgresStore(url: string, options: PostgresStoreOptions = {}): Promise<Store> {
  const migrating = connect(url, 1, { queryTimeout: MIGRATION_TIMEOUT })
  try {
    await migrating.transaction(migrate)
  } finally {
    await migrating.close()
  }
  const connection = connect(url, options.connections ?? CONNECTIONS)
  const { health } = options
  return createStore(health ? supervise(connection, url, health) : connection, health)
}

function createStore(connection: Connection, health: StoreHealth | undefined): Store {
  const { query } = connection
  const group = createGroupCommit<PendingWrite, WriteResult>({
    commit: (batch) => settleAgentWrites(connection, batch),
    lanes: LANES,
    maxBatch: MAX_BATCH,
    keyOf: ({ write }) => write.id,
  })
  const readings = new Set<() => void>()
  let closing: Promise<void> | undefined

  const close = async (): Promise<void> => {
    for (const end of readings) end()
    await group.close()
    await connection.close()
  }

  return {
    load: () => loadAgents(connection, readings),
    async get(id) {
      if (!isStorable(id)) return undefined
      const [row] = await query(
        `SELECT ${AGENT_COLUMNS} FROM agents a JOIN presence p USING (number) WHERE a.id = $1`,
        [id],
      )
      return row && toAgent(row)
    },
    async clockAhead() {
      const before = Date.now()
      const [row] = await query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')
      return (before + Date.now()) / 2 - Number(row?.now)
    },
    async write(write) {
      health?.assertWritable()
      return group.add({ write, prepared: prepareWrite(write) })
    },
    async tombstone(of) {
      if ('id' in of && !isStorable(of.id)) return undefined
      const [column, value] = 'id' in of ? ['id', of.id] : ['number', of.number]
      const [row] = await query(`SELECT * FROM tombstones WHERE ${column} = $1 ORDER BY number DESC LIMIT 1`, [value])
      return row && toTombstone(row)
    },
    changes: (cursor) => readChanges(connection, cursor),

    async keys() {
      return (await query('SELECT * FROM keys ORDER BY created_at, id')).map(toKey)
    },
    async putKey(key, audit, onlyNew = false) {
      const { id, hash, subject, scopes, names, createdAt, expiresAt } = key
      requireStorable(id, hash, subject)
      const conflict = onlyNew
        ? 'NOTHING'
        : `UPDATE SET hash = excluded.hash, subject = excluded.subject, scopes = excluded.scopes,
             names = excluded.names, created_at = excluded.created_at, expires_at = excluded.expires_at`
      const statement = `
        INSERT INTO keys (id, hash, subject, scopes, names, created_at, expires_at) VALUES ($3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (id) DO ${conflict}`
      const limits = names && JSON.stringify(names)
      const values = [id, hash, subject, JSON.stringify(scopes), limits, createdAt, expiresAt]
      return administer(connection, 'keys', statement, values, audit)
    },
    async deleteKey(id, audit) {
      return isStorable(id) && administer(connection, 'keys', 'DELETE FROM keys WHERE id = $3', [id], audit)
    },

    async grants() {
      return (await query('SELECT * FROM grants ORDER BY created_at, id')).map(toGrant)
    },
    async putGrant(grant, audit) {
      const { id, subject, scopes, agent, tag, createdAt } = grant
      requireStorable(id, subject, agent?.id, agent?.owner, tag)
      const statement = `
        INSERT INTO grants (id, subject, scopes, agent, agent_owner, tag, created_at)
        VALUES ($3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, scopes = excluded.scopes, agent = excluded.agent,
          agent_owner = excluded.agent_owner, tag = excluded.tag, created_at = excluded.created_at`
      const values = [id, subject, JSON.stringify(scopes), agent?.id, agent?.owner, tag, createdAt]
      await administer(connection, 'grants', statement, values, audit)
    },
    async deleteGrant(id, audit) {
      return isStorable(id) && administer(connection, 'grants', 'DELETE FROM grants WHERE id = $3', [id], audit)
    },

    putVectors: (vectors) => putVectors(connection, vectors),
    async *vectors(model, numbers) {
      for (let after = 0; ; ) {
        const batch = await readVectors(connection, model, numbers, after)
        if (batch.length === 0) return
        yield batch
        after = batch.at(-1)?.number ?? after
      }
    },

    async appendAudit(entries) {
      if (entries.length > 0) await query(insertAudit('$1'), [JSON.stringify(entries.map(toAuditRow))])
    },
    audit: (filter) => newestAudit(connection, filter),
    auditAfter: (cursor) => auditAfter(connection, cursor),

    async beginIdempotent(claim) {
      requireStorable(claim.client, claim.agent, claim.key, claim.fingerprint)
      return beginIdempotent(connection, claim)
    },
    async finishIdempotent({ client, agent, key, at }, response, expiresAt) {
      await query(
        `UPDATE idempotency SET response = $5, expires_at = $6
         WHERE client = $1 AND agent = $2 AND key = $3 AND at = $4 AND response IS NULL`,
        [client, agent, key, at, JSON.stringify(response), expiresAt],
      )
    },
    async abandonIdempotent({ client, agent, key, at }) {
      await query(
        `DELETE FROM idempotency WHERE client = $1 AND agent = $2 AND key = $3 AND at = $4 AND response IS NULL`,
        [client, agent, key, at],
      )
    },

    async putSetting(name, value, onlyNew) {
      requireStorable(name, value)
      const kept = onlyNew ? 'settings.value' : 'excluded.value'
      const [row] = await query(
        `INSERT INTO settings (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = ${kept} RETURNING value`,
        [name, value],
      )
      return String(row?.value)
    },

    tasks: createTaskStore(connection),
    statistics: createStatisticsStore(connection),
    secrets: createSecretStore(connection),
    trust: createTrustStore(connection),
    limits: createLimitStore(connection),
    subjects: createSubjectStore(connection),
    federation: createFederationStore(connection),
    replicas: createReplicaStore(connection),

    prune: (before) => prune(connection, before),
    close() {
      closing ??= close()
      return closing
    },
  }
}
