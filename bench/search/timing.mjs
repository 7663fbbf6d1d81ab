export const percentile = (times, share) => {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/**
 * Times a call for each input until `maxMs` have passed. `times` are milliseconds of wall-clock time; `cpu` is the mean CPU
 * time, which is less affected by other processes.
 */
export async function timeEach(inputs, maxMs, call) {
  const times = []
  const before = process.cpuUsage()
  const until = performance.now() + maxMs
  for (const input of inputs) {
    const start = performance.now()
    const result = call(input)
    if (result instanceof Promise) await result
    times.push(performance.now() - start)
    if (performance.now() > until) break
  }
  const { user, system } = process.cpuUsage(before)
  return { times, cpu: (user + system) / 1000 / times.length }
}

/** The result of a function and the seconds it took. */
export async function timed(work) {
  const start = performance.now()
  const value = await work()
  return { value, seconds: (performance.now() - start) / 1000 }
}

/** Formats p50, p99 and mean CPU time, in ms. */
export const spreadOf = (times, cpu) =>
  [
    ['p50', percentile(times, 0.5)],
    ['p99', percentile(times, 0.99)],
    ['cpu', cpu],
  ]
    .map(([name, ms]) => `${name} ${ms.toFixed(2).padStart(8)} ms`)
    .join('   ')
