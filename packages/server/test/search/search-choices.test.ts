import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readQuery } from '@switchboard/search'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../src/policy/caller.js'
import { createSearchChoices, type SearchChoices } from '../../src/services/discovery/search-choices.js'
import type { Agent, Catalog } from '../../src/services/registry/catalog.js'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.js'
import type { Store } from '../../src/store/store.js'
import { put, stored } from '../store/fixtures.js'
import { testCatalog } from '../support/catalog.js'
import { aidipAgent } from '../support/documents.js'

const DAY_MS = 86_400_000
const QUERY = readQuery('translate a contract')

const callerOf = (subject: string | undefined): Caller => ({
  subject,
  kind: subject === undefined ? 'anonymous' : 'key',
  scopes: new Set(),
  address: '',
  requestId: '',
})

describe('choices after searches', () => {
  let folder: string
  let store: Store
  let catalog: Catalog
  let now: number
  let first: Agent
  let second: Agent
  let choices: SearchChoices
  const opened: SearchChoices[] = []
  const claimed = new Map<string, SearchChoices | undefined>()

  const register = async (id: string, owner: string, changes = {}): Promise<Agent> =>
    catalog.apply(await stored(store.write(put(id, { owner, document: aidipAgent({ id, ...changes }) }))))

  const open = async (): Promise<SearchChoices> => {
    const self: { it?: SearchChoices } = {}
    self.it = await createSearchChoices({
      store,
      now: () => now,
      byNumber: catalog.byNumber,
      claim: async (keys) => {
        const ours = keys.filter((key) => !claimed.has(key) || claimed.get(key) === self.it)
        for (const key of ours) claimed.set(key, self.it)
        return new Set(ours)
      },
      onError: (error) => expect.fail(String(error)),
    })
    opened.push(self.it)
    return self.it
  }

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-choices-'))
    store = await openSqliteStore(folder)
    now = 1_700_000_000_000
    catalog = testCatalog(store, () => now)
    first = await register('first', 'alice')
    second = await register('second', 'bob')
    choices = await open()
  })
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close()
    claimed.clear()
    await store.close()
    rmSync(folder, { recursive: true })
  })

  const search = (): string => choices.idFor(QUERY, [first, second]) ?? expect.fail('no id')
  const stores = async () => (await store.statistics.choicesSince(0)).filter(({ number }) => number === second.number)
  /** As many callers search and choose the second agent. */
  const choose = (callers: number, chosen = second): void => {
    const id = search()
    for (let i = 0; i < callers; i++) choices.chose(id, chosen, callerOf(`caller ${i}`), true)
  }
  const factors = (by = choices) => [first, second].map(by.factorsFor(QUERY))

  it('raise the chosen agent a little, and lower those that were passed over', async () => {
    expect(factors()).toEqual([1, 1])
    choose(20)
    await choices.sync()
    const [passedOver = 1, chosen = 1] = factors()
    expect(passedOver).toBeGreaterThan(0.97)
    expect(passedOver).toBeLessThan(0.99)
    expect(chosen).toBeGreaterThan(1.02)
    expect(chosen).toBeLessThan(1.05)
    expect([first, second].map(choices.factorsFor(readQuery('weather forecast')))).toEqual([1, 1])
  })

  it('say nothing about agents listed after the chosen one', async () => {
    choose(20, first)
    await choices.sync()
    expect(factors()[1]).toBe(1)
  })

  it('count a caller once a day for a term and an agent, however often it calls', async () => {
    const id = search()
    for (let i = 0; i < 100; i++) choices.chose(id, second, callerOf('carol'), true)
    await choices.sync()
    expect((await stores()).map(({ shown }) => shown)).toEqual([1, 1])
    expect(factors()).toEqual([1, 1])
    now += DAY_MS
    choices.chose(search(), second, callerOf('carol'), true)
    await choices.sync()
    expect((await stores())[0]?.shown).toBeCloseTo(2, 1)
  })

  it('count a caller once at all replicas together, and are shared by them', async () => {
    const other = await open()
    for (const each of [choices, other]) {
      for (let i = 0; i < 8; i++) each.chose(search(), second, callerOf(`caller ${i}`), true)
    }
    await choices.sync()
    await other.sync()
    expect((await stores()).map(({ shown }) => shown)).toEqual([8, 8])
    expect(factors(other)).toEqual(factors())
    expect(factors()[1]).toBeGreaterThan(1)
  })

  it('do not count those of owners: neither for their own agents nor against those listed before', async () => {
    choices.chose(search(), second, callerOf('bob'), true)
    choices.chose(search(), second, callerOf('alice'), true)
    choices.chose(search(), second, callerOf(undefined), true)
    await choices.sync()
    expect(await store.statistics.choicesSince(0)).toEqual([])
  })

  it('of private agents are neither counted nor used', async () => {
    const hidden = await register('hidden', 'alice', { visibility: 'private' })
    expect(choices.idFor(QUERY, [hidden])).toBeUndefined()
    const id = choices.idFor(QUERY, [hidden, second])
    for (let i = 0; i < 20; i++) {
      choices.chose(id, hidden, callerOf(`caller ${i}`), true)
      choices.chose(id, second, callerOf(`caller ${i}`), true)
    }
    await choices.sync()
    expect((await store.statistics.choicesSince(0)).every(({ number }) => number === second.number)).toBe(true)
    const { number } = hidden
    const terms = (await stores()).map(({ term }) => ({ number, term, at: now, shown: 50, chosen: 50 }))
    await store.statistics.addChoices(terms, DAY_MS)
    await choices.sync()
    expect(choices.factorsFor(QUERY)(hidden)).toBe(1)
  })

  it('need a search id that this directory wrote within a day and that lists the agent', async () => {
    const third = await register('third', 'dave')
    const id = search()
    const altered = `${id.slice(0, -2)}${id.endsWith('AA') ? 'BB' : 'AA'}`
    choices.chose(undefined, second, callerOf('carol'), true)
    for (const wrong of ['', 'x', altered, 'A'.repeat(100_000)]) choices.chose(wrong, second, callerOf('carol'), true)
    choices.chose(id, third, callerOf('carol'), true)
    now += DAY_MS
    choices.chose(id, second, callerOf('carol'), true)
    await choices.sync()
    expect(await store.statistics.choicesSince(0)).toEqual([])
  })

  it('have ids that are the same for everybody who gets the same results within the hour', () => {
    const id = search()
    expect(search()).toBe(id)
    expect(choices.idFor(readQuery('a contract: translate!'), [first, second])).toBe(id)
    expect(choices.idFor(readQuery('einen Vertrag übersetzen'), [first, second])).toBe(id)
    expect(choices.idFor(QUERY, [second, first])).not.toBe(id)
    expect(id.length).toBeLessThan(150)
    now += 3_600_000
    expect(search()).not.toBe(id)
  })

  it('are stored without names of callers and without words', async () => {
    choose(6)
    await choices.sync()
    const rows = await store.statistics.choicesSince(0)
    expect(rows).toHaveLength(4)
    for (const row of rows) {
      expect(Object.keys(row).sort()).toEqual(['at', 'chosen', 'number', 'shown', 'term'])
      expect(row.term).toMatch(/^[\w-]{8}$/)
      expect([row.shown, row.at]).toEqual([6, now])
    }
    expect([...claimed.keys()].join()).not.toMatch(/caller|contract|translat/)
  })

  it('are limited for each caller and day', async () => {
    const words = Array.from({ length: 400 }, (_, i) => `word${i}`)
    for (const word of words) {
      choices.chose(choices.idFor(readQuery(word), [second]), second, callerOf('carol'), true)
    }
    await choices.sync()
    expect(await stores()).toHaveLength(300)
  })

  it('count less with time, are forgotten after a month, and end with the agent', async () => {
    choose(20)
    await choices.sync()
    const [, fresh = 1] = factors()
    now += 28 * DAY_MS
    expect(factors()[1]).toBeLessThan(fresh)
    expect(factors()[1]).toBeGreaterThan(1)
    catalog.drop('first', first.stored.revision)
    await choices.sync()
    expect(factors()[0]).toBe(1)
    now += 3 * DAY_MS
    await choices.sync()
    expect(factors()).toEqual([1, 1])
  })

  it('are written again after the store was unavailable', async () => {
    const { addChoices } = store.statistics
    choose(6)
    store.statistics.addChoices = () => Promise.reject(new Error('away'))
    await expect(choices.sync()).rejects.toThrow('away')
    store.statistics.addChoices = addChoices
    await choices.sync()
    expect((await stores())[0]).toMatchObject({ shown: 6, chosen: 6 })
  })

  it('of failed calls count as shown but not as chosen', async () => {
    choices.chose(search(), second, callerOf('carol'), false)
    await choices.sync()
    expect((await stores())[0]).toMatchObject({ shown: 1, chosen: 0 })
  })
})
