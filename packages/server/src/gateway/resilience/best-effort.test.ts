import { describe, expect, it, vi } from 'vitest'
import { GatewayError } from '../gateway.js'
import { createBestEffort } from './best-effort.js'

const QUICK = { timeoutMs: 20, delaysMs: [1, 1] }

describe('createBestEffort', () => {
  it('tries again while the agent is at fault, and then gives up', async () => {
    const failing = vi.fn(() => Promise.reject(new GatewayError('unreachable', 'no')))
    createBestEffort(QUICK)(failing)
    await vi.waitFor(() => expect(failing).toHaveBeenCalledTimes(3))
    const succeeding = vi.fn(async () => {})
    createBestEffort(QUICK)(succeeding)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(succeeding).toHaveBeenCalledTimes(1)
    expect(failing).toHaveBeenCalledTimes(3)
  })

  it('does not try again if the agent refuses', async () => {
    const refused = vi.fn(() => Promise.reject(new GatewayError('not_invocable', 'no')))
    createBestEffort(QUICK)(refused)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(refused).toHaveBeenCalledTimes(1)
  })

  it('limits each attempt in time, and how much is done at once', async () => {
    const aborted = vi.fn()
    const hanging = vi.fn(
      (signal: AbortSignal) =>
        new Promise<void>((_, reject) =>
          signal.addEventListener('abort', () => {
            aborted()
            reject(signal.reason)
          }),
        ),
    )
    const bestEffort = createBestEffort({ ...QUICK, max: 1 })
    bestEffort(hanging)
    const skipped = vi.fn(async () => {})
    bestEffort(skipped)
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(3))
    expect(skipped).not.toHaveBeenCalled()
    await vi.waitFor(() => {
      bestEffort(skipped)
      expect(skipped).toHaveBeenCalled()
    })
  })
})
