import { AUDIT_COLUMNS, AUDIT_RECORD, toAuditRow } from '../audit-row.js'
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
    [kind, JSON.stringify(toAuditRow(audit)), ...parameters],
  )
  return rows.length > 0
}

/** SQL that inserts the audit rows of a JSON array. */
export const insertAudit = (rows: string): string => `
  INSERT INTO audit (${AUDIT_COLUMNS}) SELECT ${AUDIT_COLUMNS} FROM json_to_recordset(${rows}) AS e (${AUDIT_RECORD})`
