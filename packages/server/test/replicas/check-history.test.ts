import { describe, expect, it } from 'vitest'
import { checkHistory, type Operation } from './check-history.js'

/** An operation that takes a millisecond. */
const operation = (kind: Operation['kind'], at: number, more: Partial<Operation> = {}): Operation => ({
  kind,
  agent: 'a',
  replica: 0,
  start: at,
  end: at + 1,
  outcome: 'ok',
  ...more,
})
const write = (at: number, value: string, more: Partial<Operation> = {}): Operation =>
  operation(at === 0 ? 'register' : 'update', at, { value, ...more })
const read = (at: number, value: string | undefined, more: Partial<Operation> = {}): Operation =>
  operation('read', at, { value, ...more })
const search = (at: number, value: string, isFound: boolean, more: Partial<Operation> = {}): Operation =>
  operation('search', at, { value, isFound, ...more })

const problemsIn = (...history: Operation[]): string[] => checkHistory(history).map(({ problem }) => problem)

describe('the checker of histories', () => {
  it('accepts a history in which everything is as it should be', () => {
    const history = [
      write(0, '1'),
      read(2, '1'),
      search(3, '1', true),
      read(2, undefined, { replica: 1 }),
      read(4, '1', { replica: 1 }),
      write(6, '2', { replica: 1 }),
      read(8, '1'),
      read(9, '2'),
      operation('delete', 10, { replica: 2 }),
      read(12, undefined, { replica: 2 }),
      read(13, '2'),
      read(20, undefined, { isFinal: true }),
      read(20, undefined, { replica: 1, isFinal: true }),
    ]
    expect(problemsIn(...history)).toEqual([])
  })

  it('accepts a write without a response as done, as not done, and as done only after a while', () => {
    const unsure = write(2, '2', { outcome: 'unknown' })
    expect(problemsIn(write(0, '1'), unsure, read(4, '2'))).toEqual([])
    expect(problemsIn(write(0, '1'), unsure, read(4, '1'), write(6, '3'), read(8, '3'))).toEqual([])
    expect(problemsIn(write(0, '1'), unsure, read(4, '1'), read(6, '2'))).toEqual([])
  })

  it('accepts either state while a write is in progress', () => {
    const slow = write(2, '2', { end: 10 })
    expect(problemsIn(write(0, '1'), slow, read(4, '1'), read(5, '2'))).toEqual([])
    expect(problemsIn(write(0, '1'), read(1.5, '2', { end: 3 }), slow)).toEqual([])
  })

  it('finds a stale read on the replica that acknowledged the write', () => {
    expect(problemsIn(write(0, '1'), write(2, '2'), read(4, '1'))).toEqual(['stale read'])
    expect(problemsIn(write(0, '1'), read(2, undefined))).toEqual(['stale read'])
  })

  it('finds a replica that goes back to what it has shown before', () => {
    const elsewhere = { replica: 1 }
    expect(problemsIn(write(0, '1'), write(2, '2'), read(4, '2', elsewhere), read(6, '1', elsewhere))).toEqual([
      'stale read',
    ])
  })

  it('finds a write without a response that is applied after a later one', () => {
    const unsure = write(2, '2', { outcome: 'unknown' })
    expect(problemsIn(write(0, '1'), unsure, write(4, '3'), read(6, '2'))).toEqual(['stale read'])
  })

  it('finds a value that nobody has written, or that was refused', () => {
    expect(problemsIn(write(0, '1'), read(2, '7'))).toEqual(['stale read'])
    expect(problemsIn(write(0, '1'), write(2, '2', { outcome: 'refused' }), read(4, '2'))).toEqual(['stale read'])
  })

  it('finds a removed agent that comes back', () => {
    expect(problemsIn(write(0, '1'), operation('delete', 2), read(4, '1'))).toEqual(['resurrected'])
    const elsewhere = { replica: 1 }
    const history = [write(0, '1'), operation('delete', 2), read(4, undefined, elsewhere)]
    // Before the first write the agent did not exist either, so this replica may only be late.
    expect(problemsIn(...history, read(6, '1', elsewhere))).toEqual([])
    expect(problemsIn(read(1, '1', elsewhere), ...history, read(6, '1', elsewhere))).toEqual(['resurrected'])
  })

  it('finds an acknowledged write that is missing at the end, on any replica', () => {
    const last = { replica: 1, isFinal: true }
    expect(problemsIn(write(0, '1'), write(2, '2'), read(9, '1', last))).toEqual(['lost update'])
    expect(problemsIn(write(0, '1'), read(9, undefined, last))).toEqual(['lost update'])
  })

  it('finds replicas that differ at the end', () => {
    const unsure = write(2, '2', { outcome: 'unknown' })
    const history = [
      write(0, '1'),
      unsure,
      read(9, '2', { isFinal: true }),
      read(9, '1', { replica: 1, isFinal: true }),
    ]
    expect(problemsIn(...history)).toEqual(['replicas differ'])
  })

  it('finds an agent that a search misses on the replica that acknowledged it', () => {
    expect(problemsIn(write(0, '1'), search(2, '1', false))).toEqual(['not found by search'])
    expect(problemsIn(write(0, '1'), search(2, '1', false, { replica: 1 }))).toEqual([])
    expect(problemsIn(write(0, '1'), write(2, '2', { outcome: 'unknown' }), search(4, '1', false))).toEqual([])
  })

  it('finds an agent by search that was removed or changed before', () => {
    expect(problemsIn(write(0, '1'), write(2, '2'), search(4, '1', true))).toEqual(['stale read'])
  })

  it('finds an expired agent that is served for more than two seconds', () => {
    const leased = write(0, '1', { ends: { earliest: 1000, latest: 1001 } })
    expect(problemsIn(leased, read(3001, '1'))).toEqual([])
    expect(problemsIn(leased, read(3002, '1'))).toEqual(['expired record served'])
    expect(problemsIn(leased, read(500, undefined))).toEqual(['stale read'])
    expect(problemsIn(leased, read(1500, undefined), read(1600, '1'))).toEqual(['resurrected'])
  })

  it('counts a lifetime from its last renewal, even one without a response', () => {
    const leased = write(0, '1', { ends: { earliest: 1000, latest: 1001 } })
    const renewal = operation('refresh', 900, { value: '1', ends: { earliest: 1900, latest: 1901 } })
    expect(problemsIn(leased, renewal, read(3500, '1'))).toEqual([])
    expect(problemsIn(leased, { ...renewal, outcome: 'unknown' }, read(3500, '1'))).toEqual([])
    expect(problemsIn(leased, renewal, read(1500, undefined))).toEqual(['stale read'])
    expect(problemsIn(leased, renewal, read(3902, '1'))).toEqual(['expired record served'])
  })

  it('finds a conditional update that another one has overwritten', () => {
    const first = write(0, '1')
    const [one, two] = [write(2, '2', { base: '1' }), write(2, '3', { base: '1', replica: 1 })]
    const final = read(9, '3', { isFinal: true })
    expect(problemsIn(first, one, two, final)).toEqual(['lost update'])
    expect(problemsIn(first, { ...one, outcome: 'refused' }, two, final)).toEqual([])
    expect(problemsIn(first, { ...one, outcome: 'unknown' }, two, final)).toEqual([])
    expect(problemsIn(first, one, write(4, '3', { base: '2', replica: 1 }), final)).toEqual([])
  })

  it('finds two owners of a name, acknowledged or only seen', () => {
    const [alice, bob] = [{ owner: 'alice' }, { owner: 'bob' }]
    expect(
      problemsIn(write(0, '1', alice), write(2, '2', { ...bob, outcome: 'refused' }), read(4, '1', alice)),
    ).toEqual([])
    expect(problemsIn(write(0, '1', alice), write(0, '2', bob))).toEqual(['two owners'])
    expect(problemsIn(write(0, '1', alice), read(4, '2', { ...bob, replica: 1 }))).toEqual(['two owners'])
  })
})
