import { type AgentRecord, type JsonObject, readRecord, redactRecord } from '@switchboard/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAgentIndex } from './agent-index.js'
import { type Condition, conditionTest } from './conditions.js'
import type { IndexedAgent, Selection, View } from './select-agents.js'

function agent(number: number, id: string, document: JsonObject = {}, status = 'active'): IndexedAgent {
  const whole = { name: id, description: '', capabilities: [], endpoint: 'https://a.example/', ...document }
  return { number, status, owner: String(document.publisher), record: readRecord('aidip', whole, id) }
}

const AVAILABLE: Condition = { kind: 'status', anyOf: ['inactive'], excluded: true }

/** What a caller sees: everything of its own agents, and the public part of others. */
const viewOf =
  (owner: string | undefined): View<IndexedAgent> =>
  ({ record, owner: other }): AgentRecord | undefined => {
    if (other === owner) return record
    return record.visibility === 'private' ? undefined : redactRecord(record)
  }

const documents = fc.record(
  {
    name: fc.constantFrom('ant', 'bee', 'cat', 'dog'),
    publisher: fc.constantFrom('ann', 'ben'),
    visibility: fc.constantFrom('public', 'private'),
    tags: fc.subarray(['a', 'b']),
    private: fc.constant(['name']).map((names) => [...names]),
  },
  { requiredKeys: ['name', 'publisher', 'visibility'] },
)
const changes = fc.array(
  fc.record({
    id: fc.constantFrom('p', 'q', 'r', 's', 't', 'u', 'v'),
    kind: fc.constantFrom('put', 'put', 'put', 'refresh', 'register again', 'remove', 'list by name'),
    document: documents,
    status: fc.constantFrom('active', 'active', 'testing', 'inactive'),
  }),
  { maxLength: 30 },
)
const conditions = fc.constantFrom<Condition[]>(
  [],
  [AVAILABLE],
  [{ kind: 'status', anyOf: ['testing', 'inactive'] }],
  [{ kind: 'tag', all: ['a'] }, AVAILABLE],
  [{ kind: 'publisher', anyOf: ['ann'] }],
  [{ kind: 'member', name: 'publisher', value: 'ann' }, AVAILABLE],
  [{ kind: 'agent', name: { exact: 'q' } }],
  [
    { kind: 'agent', name: { exact: 'q' } },
    { kind: 'tag', all: ['a'] },
  ],
)

describe('list', () => {
  it('returns the page and the total of a sorted and filtered list, whatever changed before', () => {
    const order = fc.constantFrom('name' as const, 'registration' as const, 'newest' as const)
    const page = fc.record({ order, skip: fc.nat(6), take: fc.nat(4) })
    fc.assert(
      fc.property(
        changes,
        conditions,
        page,
        fc.constantFrom('ann', 'ben', undefined),
        fc.boolean(),
        (history, wanted, options, caller, isKnown) => {
          const index = createAgentIndex<IndexedAgent>()
          const all = new Map<string, IndexedAgent>()
          const view = viewOf(caller)
          let next = 1
          for (const { id, kind, document, status } of history) {
            const before = all.get(id)
            if (kind === 'list by name') {
              index.list({ conditions: [], view }, { order: 'name', skip: 0, take: 1, exactTotal: true })
            } else if (kind === 'remove') {
              all.delete(id)
              index.remove(id)
            } else {
              const number = before && kind !== 'register again' ? before.number : next++
              const after = kind === 'refresh' && before ? { ...before } : agent(number, id, document, status)
              all.set(id, after)
              index.put(after)
            }
          }
          const nameOf = (one: IndexedAgent): string => view(one)?.name ?? ''
          const matches = [...all.values()]
            .filter((one) => {
              const record = view(one)
              return record && wanted.every((condition) => conditionTest(condition)(record, one.status))
            })
            .sort((a, b) => {
              const byName = nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0
              if (options.order === 'newest') return b.number - a.number
              return (options.order === 'name' ? byName : 0) || a.number - b.number
            })
          const own = [...all.values()].filter((one) => one.record.visibility === 'private' && view(one))
          const selection: Selection<IndexedAgent> = {
            conditions: wanted,
            view,
            ...(isKnown && { privateAgents: () => own.sort((a, b) => a.number - b.number) }),
          }
          const idsOf = (agents: readonly IndexedAgent[]): string[] => agents.map(({ record }) => record.id)
          const end = options.skip + options.take
          const exact = index.list(selection, { ...options, exactTotal: true })
          expect(exact.total).toBe(matches.length)
          expect(idsOf(exact.agents)).toEqual(idsOf(matches.slice(options.skip, end)))
          const quick = index.list(selection, { ...options, exactTotal: false })
          expect(idsOf(quick.agents)).toEqual(idsOf(exact.agents))
          expect(quick.total > end).toBe(matches.length > end)
          const inOrder = [...matches].sort((a, b) => a.number - b.number)
          expect(idsOf([...index.select(selection)])).toEqual(idsOf(inOrder))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('checks no more agents than the page needs, and no hidden ones', () => {
    const index = createAgentIndex<IndexedAgent>()
    for (let number = 1; number <= 600; number++) {
      const visibility = number % 3 === 0 ? 'private' : 'public'
      index.put(agent(number, `agent-${number}`, { visibility, publisher: 'ann' }))
    }
    const seen: number[] = []
    const view: View<IndexedAgent> = (one) => {
      seen.push(one.number)
      return viewOf(undefined)(one)
    }
    const selection = { conditions: [AVAILABLE], view, privateAgents: () => [] }
    const page = (order: 'registration' | 'name', skip: number) => {
      seen.length = 0
      const { agents, total, visited } = index.list(selection, { order, skip, take: 1, exactTotal: true })
      return { numbers: agents.map(({ number }) => number), total, visited, seen: seen.length }
    }
    for (const order of ['registration', 'name'] as const)
      expect(page(order, 300), order).toMatchObject({ total: 400, visited: 1, seen: 0 })
    expect(page('registration', 399).numbers).toEqual([599])
    index.put(agent(2, 'agent-2', { visibility: 'public', publisher: 'ann' }, 'inactive'))
    for (const order of ['registration', 'name'] as const)
      expect(page(order, 2), order).toMatchObject({ total: 399, visited: 1, seen: 0 })
    index.put(agent(2, 'agent-2', { visibility: 'public', publisher: 'ann' }))
    seen.length = 0
    const beyond = index.list(selection, { order: 'registration', skip: 1e9, take: 1, exactTotal: true })
    expect([beyond, seen]).toEqual([{ agents: [], total: 400, visited: 0 }, []])
    const visited = (condition: Condition) =>
      index.list({ conditions: [condition], view }, { order: 'registration', skip: 0, take: 1, exactTotal: true })
        .visited
    expect(visited({ kind: 'publisher', anyOf: ['ann'] })).toBe(1)
    // What terms do not decide is checked one by one.
    expect(visited({ kind: 'member', name: 'publisher', value: 'ann' })).toBe(401)
  })
})
