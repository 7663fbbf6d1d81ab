import { toIdempotencyState } from '../rows.js'
import type { IdempotencyClaim, IdempotencyState } from '../store.js'
import { StoreError } from '../store-error.js'
import type { Connection } from './connect.js'

/** Attempts while the key is released between the two statements. */
const ATTEMPTS = 5

export async function beginIdempotent(connection: Connection, claim: IdempotencyClaim): Promise<IdempotencyState> {
  const { client, agent, key, fingerprint, at, expiresAt } = claim
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // An expired reservation counts as none.
    const begun = await connection.query(
      `INSERT INTO idempotency AS i (client, agent, key, fingerprint, at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (client, agent, key) DO UPDATE
       SET fingerprint = excluded.fingerprint, at = excluded.at, expires_at = excluded.expires_at, response = NULL
       WHERE i.expires_at <= excluded.at
       RETURNING 1`,
      [client, agent, key, fingerprint, at, expiresAt],
    )
    if (begun.length > 0) return { state: 'begun' }
    const [row] = await connection.query(
      'SELECT fingerprint, response FROM idempotency WHERE client = $1 AND agent = $2 AND key = $3',
      [client, agent, key],
    )
    if (row) return toIdempotencyState(row, fingerprint)
  }
  throw new StoreError('unavailable', 'the idempotency key was reserved and released too often')
}
