/** The middle one, or the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Ours over theirs, round by round: what slowed a whole round down is in both. */
export const ratios = (ours, theirs) => ours.map((value, i) => value / theirs[i])

/**
 * Every task once a round, each round beginning with another, so that none is always the first after a pause.
 * @param {Record<string, (round: number) => Promise<unknown>>} tasks
 * @returns {Promise<Record<string, any[]>>} what each task gave, by round
 */
export async function takeTurns(rounds, tasks) {
  const names = Object.keys(tasks)
  const results = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length]
      results[name][round] = await tasks[name](round)
    }
  }
  return results
}
