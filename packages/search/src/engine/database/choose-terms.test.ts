import { describe, expect, it } from 'vitest'
import { parseWordQuery } from '../../words/word-query.js'
import { chooseTerms } from './choose-terms.js'
import { createCorpus } from './corpus.js'
import type { TextTables } from './text-tables.js'

const FREQUENCIES = new Map([
  ['tool', { agents: 60_000, loud: 20_000 }],
  ['data', { agents: 20_000, loud: 1500 }],
  ['chess', { agents: 400, loud: 300 }],
  ['xylophon', { agents: 3, loud: 3 }],
])

async function choose(text: string, wanted = 300, share = 1) {
  const tables: Pick<TextTables, 'statistics' | 'frequencies'> = {
    statistics: async () => ({ generation: 1, agents: 100_000, publicAgents: 100_000, publicLength: 5e6 }),
    frequencies: async () => FREQUENCIES,
  }
  const corpus = createCorpus(tables)
  const query = parseWordQuery(text)
  await corpus.refresh(query.terms.map(({ term }) => term))
  const { any, isAll } = chooseTerms(query, corpus, wanted, share)
  return { terms: any.map(({ term, isLoud }) => (isLoud ? `${term}!` : term)), isAll }
}

describe('chooseTerms', () => {
  it('takes the rarest terms, and of frequent ones the agents where they are loud', async () => {
    expect(await choose('xylophone chess data tool')).toEqual({ terms: ['xylophon', 'chess', 'data!'], isAll: false })
  })

  it('takes all terms if they are rare', async () => {
    expect(await choose('xylophone chess')).toEqual({ terms: ['xylophon', 'chess'], isAll: true })
  })

  it('takes a frequent term if it would find too few without', async () => {
    expect((await choose('tool')).terms).toEqual(['tool!'])
    expect((await choose('tool', 300, 0.01)).terms).toEqual(['tool'])
    expect((await choose('xylophone tool', 300)).terms).toEqual(['xylophon', 'tool!'])
  })
})
