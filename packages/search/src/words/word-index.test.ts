import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { likeness } from './likeness.js'
import type { TextFields } from './text-fields.js'
import { createWordIndex } from './word-index.js'

const fields = (title: string, description = '', schema = '', example = ''): TextFields => ({
  title: [title],
  description: [description],
  schema: [schema],
  example: [example],
})

function indexOf(...agents: TextFields[]) {
  const index = createWordIndex()
  agents.forEach((agent, number) => {
    index.put(number, agent)
  })
  return index
}

const found = (index: ReturnType<typeof indexOf>, query: string, limit = 10): number[] =>
  index.search(query, { limit }).hits.map(({ number }) => number)

describe('the word index', () => {
  it('ranks by place: a name before a description before a schema', () => {
    const index = indexOf(fields('a', '', 'weather'), fields('b', 'weather'), fields('weather'), fields('other'))
    expect(found(index, 'weather')).toEqual([2, 1, 0])
  })

  it('counts rare words for more than common ones', () => {
    const common = Array.from({ length: 20 }, (_, i) => fields(`agent ${i}`, 'translates text'))
    const index = indexOf(...common, fields('x', 'reads contracts'))
    expect(found(index, 'translate a contract')[0]).toBe(20)
  })

  it('prefers words that stand side by side as in the query', () => {
    const index = indexOf(fields('a', 'quality of the data, air travel'), fields('b', 'air quality, travel data'))
    expect(found(index, 'air quality')).toEqual([1, 0])
  })

  it('is not impressed by a word that is repeated, nor by a list of words', () => {
    const honest = fields('Weather', 'Forecasts the weather for any city')
    const repeats = fields('Weather', 'weather '.repeat(200))
    const list = fields('Everything', 'news sport music travel food '.repeat(40), '', 'weather city forecast')
    expect(found(indexOf(repeats, list, honest), 'weather forecast for a city')[0]).toBe(2)
  })

  it('breaks ties by registration', () => {
    expect(found(indexOf(fields('same'), fields('same'), fields('same')), 'same', 2)).toEqual([0, 1])
  })

  it('knows what the best possible score is, and stays below it without neighbours', () => {
    const { hits, best } = indexOf(fields('weather')).search('weather', { limit: 1 })
    expect(hits[0]?.score).toBeGreaterThan(0)
    expect(hits[0]?.score).toBeLessThan(best)
  })

  it('tells which words were found, and where', () => {
    const index = indexOf(fields('Translator', 'translates contracts'))
    expect(index.matches('Translate contracts to Chinese', 0)).toEqual([
      { word: 'Translate', fields: ['title', 'description'] },
      { word: 'contracts', fields: ['description'] },
    ])
  })

  it('finds a name made of stop words', () => {
    expect(found(indexOf(fields('Who Is'), fields('Other')), 'who is')).toEqual([0])
  })

  it('gives the score of agents that are asked for though they are not among the best', () => {
    const index = indexOf(fields('weather'), fields('b', 'weather and much more about other things'), fields('c'))
    const { hits } = index.search('weather', { limit: 1, also: [1, 2, 9] })
    expect(hits.map(({ number }) => number)).toEqual([0, 1, 2])
    expect(hits[2]?.score).toBe(0)
  })

  it('counts all that match, of those that the filter leaves, however few are asked for', () => {
    const agents = Array.from({ length: 300 }, (_, i) => fields(`agent ${i}`, i % 3 === 0 ? 'weather' : 'music'))
    const index = indexOf(...agents)
    const accept = (number: number) => number % 2 === 0
    expect(index.search('weather', { limit: 2, count: true }).total).toBe(100)
    expect(index.search('weather', { limit: 2, count: true, accept }).total).toBe(50)
    const unsure = new Set([0, 1, 3, 6, 9, 999])
    const refusing = (number: number) => number % 2 === 0 || !unsure.has(number)
    expect(index.search('weather', { limit: 2, count: true, accept: refusing, unsure })).toEqual(
      index.search('weather', { limit: 2, count: true, accept: refusing }),
    )
    expect(index.search('weather', { limit: 2, count: true, accept: refusing, unsure }).total).toBe(98)
    expect(index.search('weather music', { limit: 0, count: true, accept })).toMatchObject({ total: 150, hits: [] })
    expect(index.search('chess', { limit: 2, count: true }).total).toBe(0)
  })

  it('gives pages that fit together: a longer list begins with the shorter one', () => {
    const words = ['air', 'quality', 'data', 'travel', 'map']
    const agents = Array.from({ length: 500 }, (_, i) =>
      fields(`a${i}`, Array.from({ length: 6 }, (_, k) => words[(i * (k + 3) + (i >> k)) % 5]).join(' ')),
    )
    const index = indexOf(...agents)
    const all = found(index, 'air quality map', Number.POSITIVE_INFINITY)
    expect(all.length).toBeGreaterThan(300)
    for (const limit of [1, 10, 149, 150, 151, 300]) {
      expect(found(index, 'air quality map', limit)).toEqual(all.slice(0, limit))
    }
  })

  it('is as sound as before after a filter that failed', () => {
    const index = indexOf(fields('weather'), fields('music'))
    const failing = () => {
      throw new Error('no such agent')
    }
    expect(() => index.search('weather', { limit: 1, accept: failing })).toThrow('no such agent')
    expect(found(index, 'music')).toEqual([1])
  })

  it('does not let scores tell what agents say that are not open to everybody', () => {
    const scoreWith = (secret: string): number | undefined => {
      const index = indexOf(fields('weather'))
      index.put(7, fields(secret, secret), false)
      return index.search('weather', { limit: 1, accept: (number) => number === 0 }).hits[0]?.score
    }
    expect(scoreWith('weather weather')).toBe(scoreWith('music'))
  })

  it('calls copies alike and others not', () => {
    const index = indexOf(fields('Weather', 'forecast'), fields('Weather', 'forecast'), fields('Music', 'player'))
    const alike = (a: number, b: number) => likeness(index.termsOf(a), index.termsOf(b))
    expect([alike(0, 1), alike(0, 2), alike(0, 9)]).toEqual([1, 0, 0])
  })

  it('answers after any changes as an index made anew, filtered as if the rest did not exist', () => {
    const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'tiny', 'word')
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '))
    const change = fc.record({ number: fc.nat(8), put: fc.option(fc.tuple(text, text)) })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), text, fc.nat(8), (changes, query, hidden) => {
        const index = createWordIndex()
        const now = new Map<number, TextFields>()
        for (const { number, put } of changes) {
          if (put) now.set(number, fields(...put))
          else now.delete(number)
          const agent = now.get(number)
          if (agent) index.put(number, agent)
          else index.remove(number)
        }
        const anew = createWordIndex()
        for (const [number, agent] of now) anew.put(number, agent)
        const accept = (number: number) => number !== hidden
        const [left, right] = [index, anew].map((each) => each.search(query, { limit: 5, accept }))
        expect(left?.hits.map(({ number }) => number)).toEqual(right?.hits.map(({ number }) => number))
        expect(left?.hits.map(({ score }) => score.toFixed(5))).toEqual(
          right?.hits.map(({ score }) => score.toFixed(5)),
        )
        const all = index.search(query, { limit: 99 }).hits.filter(({ number }) => accept(number))
        expect(left?.hits).toEqual(all.slice(0, 5))
        expect([index.size, index.termCount]).toEqual([anew.size, anew.termCount])
      }),
      { numRuns: 300 },
    )
  })
})
