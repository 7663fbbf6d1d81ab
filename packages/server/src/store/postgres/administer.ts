import { storableAudit } from '../storable.js'
import type { AdministeredKind, AuditEntry } from '../store.js'
import type { Connection } from './connect.js'

/**
 * Changes data that is read as a whole, such as keys, and writes change log and audit entries if a row was changed; returns whether one was.
 * The statement's own parameters start at $3.
 */
export async function administer(
  connection: Connection,
  kind: AdministeredKind,
  statement: string,
  parameters: unknown[],
  audit: AuditEntry,
): Promise<boolean> {
  const rows = await connection.query(
    `WITH changed AS (${statement} RETURNING 1), logged AS (
       INSERT INTO changes (kind, at) SELECT $1, (($2::json) ->> 'at')::bigint FROM changed
     ), audited AS (${insertAudit('json_build_array($2::json)')} WHERE EXISTS (SELECT FROM changed))
     SELECT 1 FROM changed`,
    [kind, JSON.stringify(storableAudit(audit)), ...parameters],
  )
  return rows.length > 0
}

/** SQL that inserts the audit entries of a JSON array. */
export const insertAudit = (entries: string): string => `
  INSERT INTO audit (at, actor, action, outcome, agent, face, request_id, detail)
  SELECT e.at, e.actor, e.action, e.outcome, e.agent, e.format, e."requestId", e.detail
  FROM json_to_recordset(${entries}) AS e (
    at bigint, actor text, action text, outcome text, agent text, format text, "requestId" text, detail text)`
