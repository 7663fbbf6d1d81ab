/**
 * Does the work, and fails if it takes longer: milliseconds of this process, which do not grow when the machine is busy
 * with something else. Limits are generous, for they tell linear from quadratic and not fast from faster.
 */
export function within<T>(milliseconds: number, work: () => T, what = 'the work'): T {
  const start = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(start)
  const spent = (user + system) / 1000
  if (spent > milliseconds) throw new Error(`${what} took ${spent} ms, more than ${milliseconds}`)
  return result
}
