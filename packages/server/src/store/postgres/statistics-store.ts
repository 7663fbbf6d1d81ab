import { toChoice, toCounts, toRatingTotals } from '../rows.js'
import type { StatisticsStore, StoredCounts } from '../statistics-store.js'
import { requireStorable } from '../storable.js'
import type { Connection } from './connect.js'

export function createStatisticsStore({ query }: Connection): StatisticsStore {
  return {
    async add(counts, halfLife) {
      for (const { agent, owner, operation } of counts) requireStorable(agent, owner, operation)
      if (counts.length > 0) await query(ADD, [JSON.stringify(counts.toSorted(byKey)), halfLife])
    },
    async since(at) {
      return (await query('SELECT * FROM statistics WHERE at >= $1', [at])).map(toCounts)
    },
    async rate({ agent, subject, owner, rating, comment, at }) {
      requireStorable(agent, owner, subject)
      await query(RATE, [agent, subject, owner, rating, comment && JSON.stringify(comment), at])
      const [row] = await query(`${TOTALS} WHERE agent = $1 AND owner = $2 GROUP BY agent, owner`, [agent, owner])
      // Another owner registered the name in between, which deleted the rating.
      return row ? toRatingTotals(row) : { agent, owner, count: 0, sum: 0 }
    },
    async ratingsSince(at) {
      const rows = await query(
        `${TOTALS} WHERE agent IN (SELECT agent FROM ratings WHERE at >= $1) GROUP BY agent, owner`,
        [at],
      )
      return rows.map(toRatingTotals)
    },
    async addChoices(choices, halfLife) {
      if (choices.length > 0) await query(ADD_CHOICES, [JSON.stringify(choices), halfLife])
    },
    async choicesSince(at) {
      return (await query('SELECT * FROM choices WHERE at >= $1', [at])).map(toChoice)
    },
  }
}

/** All replicas lock rows in this order, so that they cannot deadlock. */
function byKey(a: StoredCounts, b: StoredCounts): number {
  if (a.agent !== b.agent) return a.agent < b.agent ? -1 : 1
  return a.operation < b.operation ? -1 : 1
}

/** The same as `addDecayed`, in SQL; counters of another owner are dropped. */
const ADD = `
  INSERT INTO statistics AS s (agent, operation, owner, at, calls, failures, ms)
  SELECT agent, operation, owner, at, calls, failures, ms FROM json_to_recordset($1::json) AS c (
    agent text, operation text, owner text, at bigint, calls float8, failures float8, ms float8)
  ON CONFLICT (agent, operation) DO UPDATE SET
    (owner, at, calls, failures, ms) = (
      SELECT excluded.owner, later.at, ${['calls', 'failures', 'ms'].map(decayed).join(', ')}
      FROM (SELECT CASE WHEN s.owner = excluded.owner THEN greatest(s.at, excluded.at) ELSE excluded.at END AS at,
        CASE WHEN s.owner = excluded.owner THEN 1 ELSE 0 END AS mine) later)`

function decayed(name: string): string {
  return `CASE later.mine WHEN 1 THEN ${remaining('s', name)} ELSE 0 END + ${remaining('excluded', name)}`
}

/** What is left of a counter at the time `later.at`. */
function remaining(side: 's' | 'excluded', name: string): string {
  return `${side}.${name} * power(0.5, (later.at - ${side}.at) / $2::float8)`
}

/** The same as `addDecayedChoice`, in SQL. */
const ADD_CHOICES = `
  INSERT INTO choices AS s (number, term, at, shown, chosen)
  SELECT number, term, at, shown, chosen FROM json_to_recordset($1::json) AS c (
    number bigint, term text COLLATE "C", at bigint, shown float8, chosen float8) ORDER BY number, term
  ON CONFLICT (number, term) DO UPDATE SET (at, shown, chosen) = (
    SELECT later.at, ${['shown', 'chosen'].map((name) => `${remaining('s', name)} + ${remaining('excluded', name)}`).join(', ')}
    FROM (SELECT greatest(s.at, excluded.at) AS at) later)`

const RATE = `
  INSERT INTO ratings (agent, subject, owner, rating, comment, at) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (agent, subject) DO UPDATE SET owner = excluded.owner, rating = excluded.rating,
    comment = excluded.comment, at = excluded.at`

const TOTALS = 'SELECT agent, owner, count(*) AS count, sum(rating) AS sum FROM ratings'
