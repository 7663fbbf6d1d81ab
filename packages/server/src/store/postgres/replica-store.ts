import { isObject } from '@switchboard/protocol'
import { type BucketState, REPLICA_ALIVE_MS, type ReplicaStore } from '../replica-store.js'
import type { Row } from '../rows.js'
import type { Connection } from './connect.js'

export function createReplicaStore({ query }: Connection): ReplicaStore {
  return {
    async exchange({ id, calls, spending }) {
      const buckets = await query(PUBLISH, [id, JSON.stringify(calls), JSON.stringify(spending)])
      // A statement of its own: it sees what the others have committed since the first one began.
      const others = await query(OTHERS, [id, REPLICA_ALIVE_MS])
      return { others: others.map(toCalls), buckets: buckets.map(toBucketState) }
    },
    async claim(id, keys, forMs) {
      return (await query(CLAIM, [id, keys, forMs, REPLICA_ALIVE_MS])).map(({ key }) => String(key))
    },
    async leave(id) {
      await query('WITH given_up AS (DELETE FROM claims WHERE holder = $1) DELETE FROM replicas WHERE id = $1', [id])
    },
  }
}

const toBucketState = ({ key, tokens, granted }: Row): BucketState => ({
  key: String(key),
  tokens: Number(tokens),
  granted: Number(granted),
})

function toCalls({ calls }: Row): Record<string, number> {
  const counts: unknown = JSON.parse(String(calls))
  return Object.fromEntries(Object.entries(isObject(counts) ? counts : {}).map(([key, count]) => [key, Number(count)]))
}

/**
 * The clock is that of the database. A report that had to wait for the row is older than the row, and refills nothing. All
 * replicas lock rows in the order of their keys, so that they cannot deadlock.
 */
const PUBLISH = `
  WITH alive AS (
    INSERT INTO replicas (id, seen_at, calls) VALUES ($1, clock_timestamp(), $2)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, calls = excluded.calls
  )
  INSERT INTO buckets AS b (key, capacity, refill_ms, spent, wanted, tokens, granted, at)
  SELECT key, capacity, "refillMs", spent, wanted, level - granted, granted, clock_timestamp()
  FROM json_to_recordset($3::json)
      AS s (key text COLLATE "C", capacity float8, "refillMs" float8, spent float8, wanted float8),
    LATERAL (SELECT greatest(-capacity, capacity - spent) AS level) l,
    LATERAL (SELECT floor(greatest(0, least(wanted, level))) AS granted) g
  ORDER BY key
  ON CONFLICT (key) DO UPDATE SET (capacity, refill_ms, spent, wanted, tokens, granted, at) = (
    SELECT excluded.capacity, excluded.refill_ms, excluded.spent, excluded.wanted,
      level - taken, taken, greatest(excluded.at, b.at)
    FROM (SELECT greatest(0, extract(epoch FROM excluded.at - b.at) * 1000 / excluded.refill_ms) AS share) t,
      LATERAL (SELECT least(excluded.capacity, b.tokens + share * excluded.capacity) - excluded.spent AS rest) r,
      LATERAL (SELECT greatest(-excluded.capacity, rest) AS level) l,
      LATERAL (SELECT floor(greatest(0, least(excluded.wanted, level))) AS taken) g
  )
  RETURNING key, tokens, granted`

const OTHERS = `
  SELECT calls FROM replicas WHERE id <> $1 AND seen_at > clock_timestamp() - $2 * interval '1 millisecond'`

/** In the order of keys, as above. A replica that was killed does nothing for the others. */
const CLAIM = `
  INSERT INTO claims AS c (key, holder, until)
  SELECT key, $1, clock_timestamp() + $3 * interval '1 millisecond'
  FROM (SELECT DISTINCT unnest($2::text[]) COLLATE "C" AS key) k ORDER BY key
  ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until
  WHERE c.holder = excluded.holder OR c.until < clock_timestamp() OR NOT EXISTS (
    SELECT FROM replicas r WHERE r.id = c.holder AND r.seen_at > clock_timestamp() - $4 * interval '1 millisecond')
  RETURNING key`
