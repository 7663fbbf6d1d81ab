import { describe, expect, it } from 'vitest'
import { Cancellation, toAbortSignal } from './cancellation.js'

describe('a cancellation', () => {
  it('calls each listener once, with the first reason', () => {
    const cancellation = new Cancellation()
    const seen: unknown[] = []
    cancellation.addEventListener('abort', () => seen.push(cancellation.reason))
    cancellation.abort('first')
    cancellation.abort('second')
    expect([cancellation.aborted, seen]).toEqual([true, ['first']])
  })

  it('calls no listener that was removed, not even by another listener', () => {
    const cancellation = new Cancellation()
    const seen: string[] = []
    const removed = (): void => void seen.push('removed')
    cancellation.addEventListener('abort', () => cancellation.removeEventListener('abort', removed))
    cancellation.addEventListener('abort', removed)
    cancellation.addEventListener('abort', () => seen.push('kept'))
    cancellation.abort()
    expect(seen).toEqual(['kept'])
  })

  it('becomes an AbortSignal that is aborted with it', () => {
    const cancellation = new Cancellation()
    const signal = toAbortSignal(cancellation)
    expect(signal.aborted).toBe(false)
    cancellation.abort('reason')
    expect([signal.aborted, signal.reason]).toEqual([true, 'reason'])
    expect(toAbortSignal(cancellation).aborted).toBe(true)
    expect(toAbortSignal(signal)).toBe(signal)
  })
})
