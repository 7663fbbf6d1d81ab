import { describe, expect, it, vi } from 'vitest'
import { GatewayError } from '../gateway.js'
import { createRunUndoable, type RunUndoable } from './undoable.js'

const cancelled = new GatewayError('cancelled', 'the caller left')

/** Starts a request that was sent; it ends when `finish` is called or its signal is aborted. */
function start(run: RunUndoable, { isSent = true, graceMs = 10_000 } = {}) {
  const caller = new AbortController()
  const undo = vi.fn()
  let finish = (_result: string): void => {}
  let inner: AbortSignal | undefined
  const running = run<string>(caller.signal, {
    graceMs: () => graceMs,
    undo,
    work: (signal, onSent) => {
      inner = signal
      if (isSent) onSent()
      return new Promise((resolve, reject) => {
        finish = resolve
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    },
  })
  running.catch(() => {})
  return { caller, undo, running, finish: (result: string) => finish(result), isAborted: () => inner?.aborted === true }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('createRunUndoable', () => {
  it('returns the result, which ends with the call', async () => {
    const { running, finish, caller, undo, isAborted } = start(createRunUndoable({ monotonic: () => 0 }))
    finish('a stream')
    expect(await running).toBe('a stream')
    expect(isAborted()).toBe(false)
    caller.abort(cancelled)
    expect(isAborted()).toBe(true)
    expect(undo).not.toHaveBeenCalled()
  })

  it('rejects at once when the call is aborted, and undoes the result that comes later', async () => {
    const { running, finish, caller, undo, isAborted } = start(createRunUndoable({ monotonic: () => 0 }))
    caller.abort(cancelled)
    await expect(running).rejects.toMatchObject({ code: 'cancelled', mayHaveRun: true })
    expect(isAborted()).toBe(false)
    finish('task 1')
    await turn()
    expect(undo).toHaveBeenCalledExactlyOnceWith('task 1')
    expect(isAborted()).toBe(true)
  })

  it('ends a request that was not sent yet, and one whose grace period is over', async () => {
    const run = createRunUndoable({ monotonic: () => 0 })
    for (const options of [{ isSent: false }, { graceMs: 0 }]) {
      const { running, caller, undo, isAborted } = start(run, options)
      caller.abort(cancelled)
      await expect(running).rejects.toMatchObject({ code: 'cancelled', mayHaveRun: options.isSent ?? true })
      expect(isAborted()).toBe(true)
      expect(undo).not.toHaveBeenCalled()
    }
    const { caller, isAborted } = start(run, { graceMs: 20 })
    caller.abort(cancelled)
    await vi.waitFor(() => expect(isAborted()).toBe(true))
  })

  it('limits the requests that go on', async () => {
    const run = createRunUndoable({ monotonic: () => 0, max: 1 })
    const [first, second] = [start(run), start(run)]
    first.caller.abort(cancelled)
    second.caller.abort(cancelled)
    await turn()
    expect([first.isAborted(), second.isAborted()]).toEqual([false, true])
    first.finish('x')
    await turn()
    const third = start(run)
    third.caller.abort(cancelled)
    await turn()
    expect(third.isAborted()).toBe(false)
  })
})
