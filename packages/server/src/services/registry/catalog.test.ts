import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import type { StoredAgent } from '../../store/store.js'
import { createCatalog } from './catalog.js'

const row = (more: Partial<StoredAgent> = {}): StoredAgent => ({
  id: 'a',
  number: 1,
  owner: 'alice',
  format: 'aidip',
  document: { name: 'A' },
  revision: 1,
  createdAt: 0,
  modifiedAt: 0,
  receivedAt: 0,
  marks: {},
  ...more,
})

function setUp() {
  let stored: StoredAgent | undefined
  const catalog = createCatalog({
    store: { get: async () => stored },
    baseUrl: () => 'http://directory.example',
    maxLifetime: 60,
    now: () => 0,
    warningsOf: () => [],
  })
  const events: string[] = []
  catalog.subscribe({
    changed: ({ stored: { number, revision } }, when) => events.push(`changed ${number}.${revision} ${when}`),
    removed: (number) => events.push(`removed ${number}`),
  })
  return { catalog, events, setStored: (agent: StoredAgent | undefined) => (stored = agent) }
}

describe('the catalog', () => {
  it('uses the record it is given instead of reading the document again', () => {
    const { catalog } = setUp()
    const stored = row()
    const record = readRecord(stored.format, stored.document, stored.id)
    expect(catalog.apply(stored, { record }).record.parsed).toBe(record)
  })

  it('keeps the record when only the lease was renewed', () => {
    const { catalog } = setUp()
    const { record } = catalog.apply(row())
    const refreshed = catalog.apply(row({ receivedAt: 5, document: { name: 'A' } }))
    expect(refreshed.record).toBe(record)
    expect(refreshed.stored.receivedAt).toBe(5)
  })

  it('ignores an older revision and a repeated one', () => {
    const { catalog, events } = setUp()
    const newest = catalog.apply(row({ revision: 2 }))
    expect(catalog.apply(row({ revision: 1 }))).toBe(newest)
    expect(catalog.apply(row({ revision: 2 }))).toBe(newest)
    expect(events).toEqual(['changed 1.2 now'])
  })

  it('notifies listeners of changes, removals and new registrations of a name', async () => {
    const { catalog, events, setStored } = setUp()
    catalog.apply(row(), { when: 'later' })
    catalog.apply(row({ number: 2, revision: 2 }))
    catalog.drop('a', 1)
    setStored(row({ number: 2, revision: 3 }))
    await catalog.reload('a')
    setStored(undefined)
    await catalog.reload('a')
    expect(events).toEqual(['changed 1.1 later', 'removed 1', 'changed 2.2 now', 'changed 2.3 now', 'removed 2'])
    expect(catalog.get('a')).toBeUndefined()
  })

  it('takes an older row over what is known if the store was restored, but not over what is written meanwhile', async () => {
    const { catalog, setStored } = setUp()
    const known = catalog.apply(row({ number: 2, revision: 9 }))
    setStored(row({ number: 1, revision: 3 }))
    expect(await catalog.reload('a')).toMatchObject({ number: 1, stored: { revision: 3 } })
    const written = catalog.apply(row({ number: 1, revision: 4 }))
    expect(catalog.apply(row({ number: 1, revision: 3 }), { over: known })).toBe(written)
    catalog.rewind(1)
    catalog.apply(written.stored)
    expect(catalog.revision).toBe(4)
  })
})
