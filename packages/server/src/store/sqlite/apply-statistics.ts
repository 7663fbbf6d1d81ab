import { toCounts, toRatingTotals } from '../rows.js'
import type { RatingTotals, StoredCounts, StoredRating } from '../statistics-store.js'
import { addDecayed } from '../statistics-store.js'
import { prepare, rowOf, type Sqlite } from './database.js'

export interface ApplyStatistics {
  add(counts: StoredCounts, halfLife: number): void
  rate(rating: StoredRating): RatingTotals
}

/** Writes counters and ratings; needs an open transaction. */
export function createApplyStatistics(db: Sqlite): ApplyStatistics {
  const select = prepare(db, 'SELECT * FROM statistics WHERE agent = ? AND operation = ? AND owner = ?')
  const put = prepare(
    db,
    `INSERT OR REPLACE INTO statistics (agent, operation, owner, at, calls, failures, ms) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const putRating = prepare(
    db,
    'INSERT OR REPLACE INTO ratings (agent, subject, owner, rating, comment, at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const total = prepare(
    db,
    `SELECT agent, owner, count(*) AS count, sum(rating) AS sum FROM ratings WHERE agent = ? AND owner = ?`,
  )

  return {
    add(counts, halfLife) {
      const { agent, operation, owner } = counts
      const row = rowOf(select, [agent, operation, owner])
      const { at, calls, failures, ms } = row ? addDecayed(toCounts(row), counts, halfLife) : counts
      put.run([agent, operation, owner, at, calls, failures, ms])
    },
    rate({ agent, subject, owner, rating, comment, at }) {
      putRating.run([agent, subject, owner, rating, comment && JSON.stringify(comment), at])
      return toRatingTotals(rowOf(total, [agent, owner]) ?? {})
    },
  }
}
