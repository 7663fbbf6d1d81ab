export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Ours divided by theirs, round by round, so that what slows a whole round down cancels out. */
export const ratios = (ours, theirs) => ours.map((value, i) => value / theirs[i])

/**
 * Runs every task once in each round, starting each round with a different one.
 * @param {Record<string, (round: number) => Promise<unknown>>} tasks
 * @returns {Promise<Record<string, any[]>>} the results of each task, by round
 */
export async function interleave(rounds, tasks) {
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
