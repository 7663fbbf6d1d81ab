import { toChoice, toCounts, toRatingTotals } from '../rows.js'
import type { RatingTotals, StoredChoice, StoredCounts, StoredRating } from '../statistics-store.js'
import { addDecayed, addDecayedChoice } from '../statistics-store.js'
import { prepare, rowOf, type Sqlite } from './database.js'

export interface ApplyStatistics {
  add(counts: StoredCounts, halfLife: number): void
  rate(rating: StoredRating): RatingTotals
  addChoice(choice: StoredChoice, halfLife: number): void
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
  const selectChoice = prepare(db, 'SELECT * FROM choices WHERE number = ? AND term = ?')
  const putChoice = prepare(
    db,
    'INSERT OR REPLACE INTO choices (number, term, at, shown, chosen) VALUES (?, ?, ?, ?, ?)',
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
    addChoice(choice, halfLife) {
      const { number, term } = choice
      const row = rowOf(selectChoice, [number, term])
      const { at, shown, chosen } = row ? addDecayedChoice(toChoice(row), choice, halfLife) : choice
      putChoice.run([number, term, at, shown, chosen])
    },
  }
}
