/** Runs `work` once and shares its result among all callers. A failure is not cached: the next call tries again. */
export function cacheSuccess<Argument, Result>(
  work: (argument: Argument) => Promise<Result>,
): (argument: Argument) => Promise<Result> {
  let cached: Promise<Result> | undefined
  return (argument) => {
    cached ??= work(argument).catch((error: unknown) => {
      cached = undefined
      throw error
    })
    return cached
  }
}
