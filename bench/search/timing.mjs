// How long calls take.

export const percentile = (times, share) => {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/**
 * Milliseconds of each call, for a list of inputs, as far as the time goes; and in the mean on the processor, which other
 * programs disturb less.
 */
export async function timeEach(inputs, mostMs, call) {
  const times = []
  const before = process.cpuUsage()
  const until = performance.now() + mostMs
  for (const input of inputs) {
    const start = performance.now()
    const answer = call(input)
    if (answer instanceof Promise) await answer
    times.push(performance.now() - start)
    if (performance.now() > until) break
  }
  const { user, system } = process.cpuUsage(before)
  return { times, cpu: (user + system) / 1000 / times.length }
}

/** Seconds that something takes, and what it gives. */
export async function timed(work) {
  const start = performance.now()
  const value = await work()
  return { value, seconds: (performance.now() - start) / 1000 }
}

/** p50, p99 and mean on the processor, in ms. */
export const spreadOf = (times, cpu) =>
  [
    ['p50', percentile(times, 0.5)],
    ['p99', percentile(times, 0.99)],
    ['cpu', cpu],
  ]
    .map(([name, ms]) => `${name} ${ms.toFixed(2).padStart(8)} ms`)
    .join('   ')
