export interface StopInTimeOptions {
  /** Milliseconds for all parts together. */
  readonly totalMs: number
  /** Called for a part that has not stopped in time. */
  readonly onCutOff: (part: string) => void
  readonly onError: (part: string, error: unknown) => void
}

/** Stops a part; resolves when it has stopped, has failed to, or its time is up. */
export type StopInTime = (part: string, stop: () => unknown, limitMs?: number) => Promise<void>

/** Something that hangs, such as a database that does not respond, must not keep the other parts from stopping. */
export function createStopInTime({ totalMs, onCutOff, onError }: StopInTimeOptions): StopInTime {
  const end = performance.now() + totalMs
  return async (part, stop, limitMs = Number.POSITIVE_INFINITY) => {
    let timer: NodeJS.Timeout | undefined
    const cutOff = new Promise<void>((resolve) => {
      const giveUp = (): void => {
        onCutOff(part)
        resolve()
      }
      timer = setTimeout(giveUp, Math.max(0, Math.min(limitMs, end - performance.now())))
    })
    try {
      await Promise.race([stop(), cutOff])
    } catch (error) {
      onError(part, error)
    } finally {
      clearTimeout(timer)
    }
  }
}
