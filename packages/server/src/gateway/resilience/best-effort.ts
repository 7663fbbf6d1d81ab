import { setTimeout as sleep } from 'node:timers/promises'
import { isAgentsFault } from './try-endpoints.js'
import { withTimeout } from './with-timeout.js'

/** Does something at an agent that nobody waits for, such as cancelling work; failures are ignored in the end. */
export type BestEffort = (work: (signal: AbortSignal) => Promise<void>) => void

export interface BestEffortOptions {
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number
  /** Milliseconds before the second attempt and those after it, which are made if the agent was at fault. */
  readonly delaysMs: readonly number[]
  /** Most that is done at once; more is not even tried. */
  readonly max: number
}

const DEFAULTS: BestEffortOptions = { timeoutMs: 5000, delaysMs: [500, 3000], max: 256 }

export function createBestEffort(options: Partial<BestEffortOptions> = {}): BestEffort {
  const { timeoutMs, delaysMs, max } = { ...DEFAULTS, ...options }
  let pending = 0

  const attempt = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    for (let attempts = 0; ; attempts++) {
      try {
        return await withTimeout(timeoutMs, work)
      } catch (error) {
        const delayMs = delaysMs[attempts]
        if (delayMs === undefined || !isAgentsFault(error)) return
        await sleep(delayMs, undefined, { ref: false })
      }
    }
  }

  return (work) => {
    if (pending >= max) return
    pending++
    void attempt(work).finally(() => {
      pending--
    })
  }
}
