export interface SemaphoreSize {
  /** Works at once. */
  readonly all: number
  /** Of one and the same, so that nobody keeps the others waiting. */
  readonly each: number
}

/** Lets so many through at once: the others wait their turn, and go on if they still want to. */
export function createSemaphore({ all, each }: SemaphoreSize) {
  const inside = new Map<string, number>()
  const waiting: { readonly who: string; readonly go: () => void }[] = []
  let free = all
  const mayGo = (who: string): boolean => free > 0 && (inside.get(who) ?? 0) < each
  const enter = (who: string): void => {
    free--
    inside.set(who, (inside.get(who) ?? 0) + 1)
  }
  const leave = (who: string): void => {
    free++
    const left = (inside.get(who) ?? 1) - 1
    if (left === 0) inside.delete(who)
    else inside.set(who, left)
    const next = waiting.findIndex((one) => mayGo(one.who))
    if (next === -1) return
    for (const { who: other, go } of waiting.splice(next, 1)) {
      enter(other)
      go()
    }
  }
  return async <T>(who: string, work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
    if (mayGo(who)) enter(who)
    else await new Promise<void>((go) => waiting.push({ who, go }))
    try {
      return signal.aborted ? undefined : await work()
    } finally {
      leave(who)
    }
  }
}
