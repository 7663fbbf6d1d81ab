import { toChoice, toCounts, toRatingTotals } from '../rows.js'
import type { StatisticsStore } from '../statistics-store.js'
import { requireStorable } from '../storable.js'
import { prepare, type Read, rowsOf, type Sqlite } from './database.js'
import type { Writer } from './start-writer.js'

export function createStatisticsStore(db: Sqlite, read: Read, writer: Writer): StatisticsStore {
  const since = prepare(db, 'SELECT * FROM statistics WHERE at >= ?')
  const ratingsSince = prepare(
    db,
    `SELECT agent, owner, count(*) AS count, sum(rating) AS sum FROM ratings
     WHERE agent IN (SELECT agent FROM ratings WHERE at >= ?) GROUP BY agent, owner`,
  )
  const choicesSince = prepare(db, 'SELECT * FROM choices WHERE at >= ?')
  return {
    async add(counts, halfLife) {
      for (const { agent, owner, operation } of counts) requireStorable(agent, owner, operation)
      if (counts.length > 0) await writer.run('addCounts', { counts, halfLife })
    },
    since: (at) => read(() => rowsOf(since, [at]).map(toCounts)),
    async rate(rating) {
      requireStorable(rating.agent, rating.owner, rating.subject)
      return writer.run('rate', { rating })
    },
    ratingsSince: (at) => read(() => rowsOf(ratingsSince, [at]).map(toRatingTotals)),
    async addChoices(choices, halfLife) {
      if (choices.length > 0) await writer.run('addChoices', { choices, halfLife })
    },
    choicesSince: (at) => read(() => rowsOf(choicesSince, [at]).map(toChoice)),
  }
}
