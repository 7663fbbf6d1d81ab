import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NumberSet } from '../number-set.js'
import { jaccard } from '../ranking/diversify.js'
import type { TextFields } from './text-fields.js'
import { createWordIndex } from './word-index.js'
import { parseWordQuery } from './word-query.js'

const fields = (title: string, description = '', schema = '', example = ''): TextFields => ({
  title: [title],
  description: [description],
  schema: [schema],
  example: [example],
  gloss: [],
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
  it('weights fields: title before description before schema', () => {
    const index = indexOf(fields('a', '', 'weather'), fields('b', 'weather'), fields('weather'), fields('other'))
    expect(found(index, 'weather')).toEqual([2, 1, 0])
  })

  it('weights rare terms more than common ones', () => {
    const common = Array.from({ length: 20 }, (_, i) => fields(`agent ${i}`, 'translates text'))
    const index = indexOf(...common, fields('x', 'reads contracts'))
    expect(found(index, 'translate a contract')[0]).toBe(20)
  })

  it('prefers terms that are adjacent as in the query', () => {
    const index = indexOf(fields('a', 'quality of the data, air travel'), fields('b', 'air quality, travel data'))
    expect(found(index, 'air quality')).toEqual([1, 0])
  })

  it('prefers the direction that the query names, also across another word', () => {
    const index = indexOf(fields('a', 'converts spreadsheet to pdf'), fields('b', 'converts pdf to spreadsheet'))
    expect(found(index, 'turn a pdf invoice into a spreadsheet')).toEqual([1, 0])
  })

  it('prefers agents that say what the request does near what it does it to, if it has one clause', () => {
    const far = fields('a', 'podcast directory with charts, countries, languages and hosts who transcribe')
    const near = fields('b', 'directory with hosts who transcribe a video, radio show or podcast, charts, countries')
    const index = indexOf(far, near)
    const score = (query: string, at: number) =>
      index.search(query, { limit: 2 }).hits.find(({ number }) => number === at)?.score ?? 0
    expect(found(index, 'transcribe a podcast')).toEqual([1, 0])
    const [one, several] = ['transcribe a podcast', 'transcribe a podcast, list radio charts']
    expect(score(one, 1) - score(one, 0)).toBeGreaterThan(0.1)
    expect(parseWordQuery(one).action).toEqual([0, 1])
    expect(parseWordQuery(several).action).toEqual([])
    expect(parseWordQuery(one, 'de').action).toBeUndefined()
  })

  it('prefers an agent whose whole name is in the query', () => {
    const index = indexOf(fields('Nimbus weather radar maps', 'x'), fields('Weather x', 'radar maps nimbus'))
    const [first, second] = index.search('nimbus weather radar maps', { limit: 10 }).hits
    const unnamed = indexOf(fields('nimbus weather radar maps y z', 'x'), fields('Weather x', 'radar maps nimbus'))
    expect([first?.number, second?.number]).toEqual([0, 1])
    expect(first?.score).toBeGreaterThan(
      (unnamed.search('nimbus weather radar maps', { limit: 1 }).hits[0]?.score ?? 9) + 0.05,
    )
  })

  it('says what each word contributes to a score', () => {
    const index = indexOf(fields('Nimbus', 'forecasts weather'), fields('Lex', 'contracts'))
    const query = parseWordQuery('weather contracts nimbus')
    const contributions = index.contributions(query)(0)
    expect(contributions.map((each) => each > 0)).toEqual([true, false, true])
    const single = index.search({ terms: query.terms.slice(0, 1), bigrams: [] }, { limit: 1 }).hits[0]?.score
    expect(contributions[0]).toBeCloseTo(single ?? 0)
    expect(index.contributions(query)(7)).toEqual([])
  })

  it('does not reward repeating a word or listing many', () => {
    const honest = fields('Weather', 'Forecasts the weather for any city')
    const repeats = fields('Weather', 'weather '.repeat(200))
    const list = fields('Everything', 'news sport music travel food '.repeat(40), '', 'weather city forecast')
    expect(found(indexOf(repeats, list, honest), 'weather forecast for a city')[0]).toBe(2)
  })

  it('breaks ties by registration order', () => {
    expect(found(indexOf(fields('same'), fields('same'), fields('same')), 'same', 2)).toEqual([0, 1])
  })

  it('reports the maximum score, which a single term stays below', () => {
    const { hits, maxScore } = indexOf(fields('weather')).search('weather', { limit: 1 })
    expect(hits[0]?.score).toBeGreaterThan(0)
    expect(hits[0]?.score).toBeLessThan(maxScore)
  })

  it('reports the matched words and their fields', () => {
    const index = indexOf(fields('Translator', 'translates contracts'))
    expect(index.matches('Translate contracts to Chinese', 0)).toEqual([
      { word: 'Translate', fields: ['title', 'description'] },
      { word: 'contracts', fields: ['description'] },
    ])
  })

  it('finds a character of Chinese or Korean within words', () => {
    const index = indexOf(fields('报税助手', '帮您处理税务'), fields('天气预报'), fields('좋은 책을 추천'))
    expect(found(index, '税')).toEqual([0])
    expect(found(index, '报')).toEqual([1, 0])
    expect(found(index, '책')).toEqual([2])
    expect(found(index, '助')).toEqual([0])
  })

  it('prefers a pair of characters to one of them, and counts the best', () => {
    const index = indexOf(fields('税收'), fields('税务'), fields('家务'), fields('天气'))
    const { hits, maxScore } = index.search('税务', { limit: 10 })
    expect(hits.map(({ number }) => number)).toEqual([1, 0, 2])
    expect(maxScore).toBeCloseTo(
      index.search({ terms: parseWordQuery('税务').terms.slice(0, 1), bigrams: [] }, { limit: 1 }).maxScore,
    )
  })

  it('names a character as evidence only where the pair is missing', () => {
    const index = indexOf(fields('税务咨询'), fields('x', '税收'))
    expect(index.matches('税务', 0)).toEqual([{ word: '税务', fields: ['title'] }])
    expect(index.matches('税务', 1)).toEqual([{ word: '税', fields: ['description'] }])
  })

  it('counts a character as often as it occurs, and does not make texts longer by it', () => {
    const index = indexOf(fields('x', '税务 税收'), fields('y', '税务 天气'), fields('z', '气税收'))
    const [first] = index.search('税', { limit: 10 }).hits
    expect(first?.number).toBe(0)
    const scores = new Map(index.search('税', { limit: 10 }).hits.map(({ number, score }) => [number, score]))
    // The character is in two pairs of the third text, but occurs once.
    expect(scores.get(2)).toBeCloseTo(scores.get(1) ?? 0)
  })

  it('finds a name made of stop words', () => {
    expect(found(indexOf(fields('Who Is'), fields('Other')), 'who is')).toEqual([0])
  })

  it('also scores included agents that are not among the best', () => {
    const index = indexOf(fields('weather'), fields('b', 'weather and much more about other things'), fields('c'))
    const { hits } = index.search('weather', { limit: 1, include: [1, 2, 9] })
    expect(hits.map(({ number }) => number)).toEqual([0, 1, 2])
    expect(hits[2]?.score).toBe(0)
  })

  it('counts all accepted matches, whatever the limit', () => {
    const agents = Array.from({ length: 300 }, (_, i) => fields(`agent ${i}`, i % 3 === 0 ? 'weather' : 'music'))
    const index = indexOf(...agents)
    const accepted = new NumberSet(Array.from({ length: 300 }, (_, i) => i).filter((number) => number % 2 === 0))
    expect(index.search('weather', { limit: 2, count: true }).total).toBe(100)
    expect(index.search('weather', { limit: 2, count: true, accepted }).total).toBe(50)
    expect(index.search('weather music', { limit: 0, count: true, accepted })).toMatchObject({ total: 150, hits: [] })
    expect(index.search('chess', { limit: 2, count: true }).total).toBe(0)
  })

  it('returns the same first hits for every limit', () => {
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

  it('gives public agents scores that do not depend on private ones', () => {
    const scoreWith = (secret: string): number | undefined => {
      const index = indexOf(fields('weather'))
      index.put(7, fields(secret, secret), false)
      return index.search('weather', { limit: 1, accepted: new NumberSet([0]) }).hits[0]?.score
    }
    expect(scoreWith('weather weather')).toBe(scoreWith('music'))
  })

  it('gives identical agents identical terms', () => {
    const index = indexOf(fields('Weather', 'forecast'), fields('Weather', 'forecast'), fields('Music', 'player'))
    const similarity = (a: number, b: number) => jaccard(index.termsOf(a), index.termsOf(b))
    expect([similarity(0, 1), similarity(0, 2), similarity(0, 9)]).toEqual([1, 0, 0])
  })

  it('returns the same results as a new index after any sequence of changes, and filters before ranking', () => {
    const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'tiny', 'word', '税', '税务', '报税务', '책을')
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '))
    const change = fc.record({ number: fc.nat(8), put: fc.option(fc.tuple(text, text)) })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), text, fc.nat(8), (changes, query, hidden) => {
        const index = createWordIndex()
        const current = new Map<number, TextFields>()
        for (const { number, put } of changes) {
          if (put) current.set(number, fields(...put))
          else current.delete(number)
          const agent = current.get(number)
          if (agent) index.put(number, agent)
          else index.remove(number)
        }
        const fresh = createWordIndex()
        for (const [number, agent] of current) fresh.put(number, agent)
        const accepted = new NumberSet([...current.keys()].filter((number) => number !== hidden))
        const [left, right] = [index, fresh].map((each) => each.search(query, { limit: 5, accepted }))
        expect(left?.hits.map(({ number }) => number)).toEqual(right?.hits.map(({ number }) => number))
        expect(left?.hits.map(({ score }) => score.toFixed(5))).toEqual(
          right?.hits.map(({ score }) => score.toFixed(5)),
        )
        const all = index.search(query, { limit: 99 }).hits.filter(({ number }) => accepted.has(number))
        expect(left?.hits).toEqual(all.slice(0, 5))
        expect([index.size, index.termCount]).toEqual([fresh.size, fresh.termCount])
      }),
      { numRuns: 300 },
    )
  })
})
