/** Lets so many through at once: the others wait their turn, and go on if they still want to. */
export function createTurnstile(size: number) {
  let free = size
  const waiting: (() => void)[] = []
  const pass = (): void => {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
  return async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return signal.aborted ? undefined : await work()
    } finally {
      pass()
    }
  }
}
