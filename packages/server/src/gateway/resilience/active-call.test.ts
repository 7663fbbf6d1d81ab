import { describe, expect, it } from 'vitest'
import { Cancellation } from '../../cancellation.js'
import { createActiveCalls } from './active-call.js'

const TIMEOUT_MS = 60_000

const start = (callers: readonly string[]) => {
  const calls = createActiveCalls(() => 0)
  const active = callers.map((caller) => calls.begin(caller, new Cancellation(), TIMEOUT_MS))
  const freed: string[] = []
  for (const call of active) call.hold(() => freed.push(call.caller ?? ''))
  return { calls, active, freed }
}

describe('createActiveCalls', () => {
  it('aborts the calls that are chosen, and frees their slots', () => {
    const { calls, active, freed } = start(['ann', 'ben', 'ann', 'cy'])
    calls.abort(({ caller }) => caller === 'ann', 'revoked')
    expect(active.map(({ aborted }) => aborted)).toEqual([true, false, true, false])
    expect(active[0]?.reason).toBe('revoked')
    expect(freed).toEqual(['ann', 'ann'])
    calls.abort(() => true, 'stopping')
    expect(freed.toSorted()).toEqual(['ann', 'ann', 'ben', 'cy'])
  })

  it('keeps the others in whatever order calls finish', () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
      [1, 2, 0],
    ]) {
      const { calls, active, freed } = start(['0', '1', '2'])
      const [first, ...rest] = order.map(String)
      active[Number(first)]?.finish()
      active[Number(first)]?.finish()
      expect(freed).toEqual([first])
      calls.abort(({ caller }) => caller === rest[0], 'revoked')
      expect(active.filter(({ aborted }) => aborted).map(({ caller }) => caller)).toEqual([rest[0]])
      calls.abort(() => true, 'stopping')
      expect(freed.toSorted()).toEqual(['0', '1', '2'])
      expect(active[Number(first)]?.aborted).toBe(false)
    }
  })

  it('frees a slot at once that comes after the end of the call', () => {
    const caller = new Cancellation()
    const call = createActiveCalls(() => 0).begin('ann', caller, TIMEOUT_MS)
    caller.abort()
    let freed = 0
    call.hold(() => freed++)
    call.finish()
    expect(freed).toBe(1)
  })
})
