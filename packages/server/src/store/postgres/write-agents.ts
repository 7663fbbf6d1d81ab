import { setTimeout as pause } from 'node:timers/promises'
import {
  agentAfterPut,
  type CurrentAgent,
  hasNewOwner,
  isConflict,
  leaseAfter,
  type PreparedChange,
  type PreparedWrite,
  receivedAfter,
  timesAfterPut,
} from '../agent-write.js'
import { AUDIT_COLUMNS, AUDIT_RECORD } from '../audit-row.js'
import { AGENT_COLUMNS, type Row, toAgent, toCurrentAgent } from '../rows.js'
import type { AgentWrite, WriteResult } from '../store.js'
import { StoreError } from '../store-error.js'
import { findOverQuota } from './check-quotas.js'
import { type Connection, type Query, sqlStateOf } from './connect.js'

/** A write as requested, and as it is sent to the database. */
export interface PendingWrite {
  write: AgentWrite
  prepared: PreparedWrite
}

/** Attempts at a batch while other replicas write the same agents. */
const ATTEMPTS = 10
/** Milliseconds to wait after the first attempt, at most; they double, up to the longest wait. */
const BACK_OFF_MS = { first: 2, longest: 100 }

/**
 * Writes a batch. If the database rejects the data of one write, only that write fails; any other error fails the whole
 * batch.
 */
export async function settleAgentWrites(
  connection: Connection,
  batch: PendingWrite[],
): Promise<PromiseSettledResult<WriteResult>[]> {
  try {
    const results = await writeAgents(connection, batch)
    return results.map((value) => ({ status: 'fulfilled', value }))
  } catch (reason) {
    if (batch.length === 1) return [{ status: 'rejected', reason }]
    if (!BAD_DATA.test(sqlStateOf(reason) ?? '')) throw reason
    const middle = batch.length >> 1
    return [
      ...(await settleAgentWrites(connection, batch.slice(0, middle))),
      ...(await settleAgentWrites(connection, batch.slice(middle))),
    ]
  }
}

/** SQLSTATE classes of errors in the data: bad values, constraints, errors raised by triggers, exceeded limits. */
const BAD_DATA = /^(22|23|44|54|P0)/

/**
 * Writes many agents, each at most once, in one transaction: all or nothing.
 *
 * Rows are locked in order of number, then new names are inserted in order of id, so that concurrent batches of several
 * replicas cannot deadlock.
 */
async function writeAgents(connection: Connection, batch: PendingWrite[]): Promise<WriteResult[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const results = await connection.transaction((query) => attemptWrites(query, batch)).catch(onRace)
    if (results) return results
    // A random time: replicas that wait equally long would meet again.
    await pause(Math.random() * Math.min(BACK_OFF_MS.first * 2 ** attempt, BACK_OFF_MS.longest))
  }
  throw new StoreError('unavailable', 'the write kept conflicting with writes of other replicas')
}

/** Thrown to roll back: another replica took the name between lookup and insert. */
class NameTaken extends StoreError {
  constructor() {
    super('unavailable', 'another replica registered the name at the same time')
  }
}

/** Our own batches do not deadlock, but other users of the database might lock our rows. */
const RACES = ['40001', '40P01']

function onRace(error: unknown): undefined {
  if (!(error instanceof NameTaken) && !RACES.includes(sqlStateOf(error) ?? '')) throw error
}

async function attemptWrites(query: Query, batch: PendingWrite[]): Promise<WriteResult[]> {
  const locked = await lockAgents(
    query,
    batch.map(({ write }) => write.id),
  )
  const rows = batch.map(({ write }) => locked.get(write.id))
  const currents = rows.map((row) => row && toCurrentAgent(row))

  const overQuota = await findOverQuota(query, batch, rows)
  const documents: string[] = []
  const inputs = batch.flatMap((pending, i) => {
    const { change, document } = pending.prepared
    if (isConflict(change, currents[i]) || overQuota.has(pending)) return []
    const place = document === undefined ? undefined : documents.push(document)
    return [{ ...toInput(change, currents[i]), document_place: place }]
  })
  const written = new Map<unknown, Row>()
  const sql = inputs.length > 0 ? writeStatement(documents.length) : undefined
  for (const row of sql === undefined ? [] : await query(sql, [JSON.stringify(inputs), ...documents])) {
    if (row.number === null) throw new NameTaken()
    written.set(row.id, row)
  }
  return batch.map((pending, i): WriteResult => {
    const { write, prepared } = pending
    const over = overQuota.get(pending)
    if (over && !isConflict(prepared.change, currents[i])) return { outcome: 'over_quota', ...over }
    const stored = written.get(write.id)
    if (!stored) return { outcome: 'conflict' }
    if (write.kind === 'remove') return { outcome: 'done' }
    if (write.kind === 'refresh')
      return { outcome: 'done', agent: toAgent({ ...rows[i], ...presenceOf(prepared.change, currents[i]) }) }
    const facts = {
      number: Number(stored.number),
      revision: Number(stored.revision),
      lease: leaseAfter(write, currents[i]),
      ...timesAfterPut(write, currents[i]),
    }
    return { outcome: 'done', agent: agentAfterPut(write, facts) }
  })
}

/**
 * Locks the existing agents, then reads them. The second statement is needed because the first may have waited for a
 * lock, and then sees fresh data only in the rows it locked. An agent that appears in between counts as absent.
 */
async function lockAgents(query: Query, ids: string[]): Promise<Map<unknown, Row>> {
  const locked = await query(LOCK, [ids])
  if (locked.length === 0) return new Map()
  const rows = await query(READ, [locked.map((row) => row.number)])
  return new Map(rows.map((row) => [row.id, row]))
}

const LOCK = `
  SELECT p.number FROM agents a JOIN presence p USING (number)
  WHERE a.id = ANY ($1) ORDER BY p.number FOR UPDATE OF p`

const READ = `SELECT ${AGENT_COLUMNS}, a.memory FROM agents a JOIN presence p USING (number) WHERE a.number = ANY ($1)`

/** A row of `input` in the statement below, without its document. */
function toInput(write: PreparedChange, current: CurrentAgent | undefined): Row {
  const { id, at } = write
  const audit = { audit: write.audit, number: current?.number }
  if (write.kind === 'remove') return { kind: 'remove', id, at, reason: write.reason, ...audit }
  const presence = presenceOf(write, current)
  if (write.kind === 'refresh') return { kind: 'refresh', id, at, ...presence, ...audit }
  const { owner, format, memory, marks } = write
  const put = { id, at, owner, format, memory, marks, new_owner: hasNewOwner(write, current) }
  return { kind: current ? 'update' : 'register', ...put, ...presence, ...audit }
}

function presenceOf(write: PreparedChange, current: CurrentAgent | undefined): Row {
  if (write.kind === 'remove') return {}
  const receivedAt = write.kind === 'put' ? timesAfterPut(write, current).receivedAt : receivedAfter(write, current)
  const lease = leaseAfter(write, current)
  return { received_at: receivedAt, lease_seconds: lease?.seconds, lease_expires_at: lease?.expiresAt }
}

/**
 * One statement for the whole batch; all its parts see the same snapshot. Revisions are drawn here, after the locks, so
 * that those of one agent increase. A name that was taken in the meantime comes back without a number.
 *
 * Each document is a parameter of its own, $2 and following, because it is JSON text already; `document_place` is
 * its position among them, from 1.
 */
const writeStatement = (documents: number): string => `
  WITH input AS MATERIALIZED (
    SELECT i.*, d.document, CASE WHEN i.kind <> 'refresh' THEN nextval('changes_revision_seq') END AS revision
    FROM json_to_recordset($1::json) AS i (
      kind text, id text COLLATE "C", number bigint, at bigint, owner text, format text, memory bigint,
      document_place int, marks text,
      received_at bigint, lease_seconds bigint, lease_expires_at bigint, reason text, new_owner boolean, audit json)
    LEFT JOIN unnest(ARRAY[${Array.from({ length: documents }, (_, i) => `$${i + 2}`).join(', ')}]::text[])
      WITH ORDINALITY AS d (document, place) ON d.place = i.document_place
  ), registered AS (
    INSERT INTO agents (id, owner, face, document, memory, marks, revision, created_at, modified_at)
    SELECT id, owner, format, document, memory, marks, revision, at, at FROM input WHERE kind = 'register' ORDER BY id
    ON CONFLICT (id) DO NOTHING
    RETURNING id, number
  ), updated AS (
    UPDATE agents a SET owner = i.owner, face = i.format, document = i.document, memory = i.memory, marks = i.marks,
      revision = i.revision, modified_at = i.at
    FROM input i WHERE i.kind = 'update' AND a.number = i.number
  ), removed AS (
    DELETE FROM agents a USING input i WHERE i.kind = 'remove' AND a.number = i.number
    RETURNING a.number, a.id, a.owner, i.reason, a.marks, i.at
  ), buried AS (
    INSERT INTO tombstones (number, id, owner, reason, marks, at) SELECT * FROM removed
  ), arrived AS (
    INSERT INTO presence (number, received_at, lease_seconds, lease_expires_at)
    SELECT r.number, i.received_at, i.lease_seconds, i.lease_expires_at FROM registered r JOIN input i USING (id)
  ), renewed AS (
    UPDATE presence p SET received_at = i.received_at, lease_seconds = i.lease_seconds,
      lease_expires_at = i.lease_expires_at
    FROM input i WHERE i.kind IN ('update', 'refresh') AND p.number = i.number
  ), departed AS (
    DELETE FROM presence p USING input i WHERE i.kind = 'remove' AND p.number = i.number
  ), forgotten AS (
    DELETE FROM vectors v USING input i WHERE i.kind = 'remove' AND v.number = i.number
  ), foreign_credentials AS (
    DELETE FROM credentials c USING input i WHERE i.new_owner AND c.agent = i.id AND c.owner <> i.owner
  ), foreign_statistics AS (
    DELETE FROM statistics s USING input i WHERE i.new_owner AND s.agent = i.id AND s.owner <> i.owner
  ), foreign_ratings AS (
    DELETE FROM ratings r USING input i WHERE i.new_owner AND r.agent = i.id AND r.owner <> i.owner
  ), written AS (
    SELECT i.id, i.kind, i.revision, i.at, i.audit, coalesce(i.number, r.number) AS number
    FROM input i LEFT JOIN registered r USING (id)
  ), logged AS (
    INSERT INTO changes (revision, kind, id, number, at)
    SELECT revision, CASE kind WHEN 'remove' THEN 'remove' ELSE 'put' END, id, number, at
    FROM written WHERE kind <> 'refresh'
  ), audited AS (
    INSERT INTO audit (${AUDIT_COLUMNS})
    SELECT e.* FROM written w, json_to_record(w.audit) AS e (${AUDIT_RECORD})
  )
  SELECT id, number, revision FROM written`
