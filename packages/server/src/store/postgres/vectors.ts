import { toVectors } from '../rows.js'
import type { StoredVectors } from '../store.js'
import type { Connection } from './connect.js'

/** Agents in one batch. */
const BATCH = 500

export async function putVectors({ query }: Connection, vectors: readonly StoredVectors[]): Promise<void> {
  if (vectors.length === 0) return
  const asText = vectors.map((each) => ({ ...each, data: Buffer.from(each.data).toString('base64') }))
  await query(PUT, [JSON.stringify(asText)])
}

const PUT = `
  INSERT INTO vectors (number, model, digest, data)
  SELECT v.number, v.model, v.digest, decode(v.data, 'base64')
  FROM json_to_recordset($1::json) AS v (number bigint, model text, digest text, data text) JOIN agents USING (number)
  ORDER BY v.number
  ON CONFLICT (number) DO UPDATE SET model = excluded.model, digest = excluded.digest, data = excluded.data`

/** The next batch of vectors after an agent's number, in order of number. */
export async function readVectors(
  { query }: Connection,
  model: string,
  numbers: readonly number[] | undefined,
  after: number,
): Promise<StoredVectors[]> {
  const rows = await query(
    `SELECT number, model, digest, data FROM vectors
     WHERE model = $1 AND number > $2 AND ($3::bigint[] IS NULL OR number = ANY ($3)) ORDER BY number LIMIT ${BATCH}`,
    [model, after, numbers],
  )
  return rows.map(toVectors)
}
