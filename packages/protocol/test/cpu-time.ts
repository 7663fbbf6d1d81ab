/**
 * Runs the work and fails if it takes longer than the limit, in milliseconds of CPU time of this process, which do not
 * grow on a busy machine. Limits are generous: they distinguish linear from quadratic time, not fast from faster.
 */
export function within<T>(milliseconds: number, work: () => T, what = 'the work'): T {
  const start = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(start)
  const spent = (user + system) / 1000
  if (spent > milliseconds) throw new Error(`${what} took ${spent} ms, more than ${milliseconds}`)
  return result
}
