import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { diversify } from './diversify.js'
import { embeddingTextsOf } from './embedding-texts.js'
import { type Candidate, rankCandidates } from './rank-candidates.js'
import { readQuery } from './read-query.js'

const candidate = (number: number, rest: Partial<Candidate> = {}): Candidate => ({
  number,
  wordScore: 0,
  similarities: {},
  languages: undefined,
  ...rest,
})
const order = (text: string, maxWordScore: number, ...candidates: Candidate[]): number[] =>
  rankCandidates(readQuery(text), maxWordScore, candidates).map(({ number }) => number)

describe('readQuery', () => {
  it('AIDIP00-5.4-04 recognises the languages a query names, and not a cuisine', () => {
    expect(readQuery('translate product descriptions to Chinese').namedLanguages).toEqual(['zh'])
    expect(readQuery('from German into Brazilian or Portuguese').namedLanguages).toEqual(['de'])
    expect(readQuery('a good Chinese restaurant').namedLanguages).toEqual([])
  })

  it('also embeds the sentences of a long request one by one, except greetings', () => {
    const text = 'Hello, chatbot! I plan a trip to Senegal. Find the distance from Dakar to Saly.'
    expect(readQuery(text).texts).toEqual([text, 'I plan a trip to Senegal.', 'Find the distance from Dakar to Saly.'])
  })

  it('lowers the semantic weight of languages that neither the model nor the lexicon knows', () => {
    const weight = (text: string) => readQuery(text).semanticWeight
    expect(weight('Can you book a flight?')).toBe(1)
    expect(weight('Jag vill boka en resa till fjällen')).toBeLessThan(1)
    expect(weight('ฉันต้องการจองตั๋ว')).toBe(0)
    expect(readQuery('ฉันต้องการจองตั๋ว', { modelLanguages: 'all' }).semanticWeight).toBe(1)
  })

  it('embeds the English meaning of a query in another language, and trusts it as far as its words are known', () => {
    const known = readQuery('Kannst du mir einen Flug buchen?')
    expect(known).toMatchObject({ language: 'de', texts: ['flight book'], semanticWeight: 1 })
    const half = readQuery('Wettervorhersage für Xyzhausen')
    expect(half.texts).toEqual(['weather forecast Xyzhausen'])
    expect(half.semanticWeight).toBeLessThan(known.semanticWeight)
  })

  it('embeds a query as written if the model knows its language', () => {
    const query = readQuery('Einen Flug buchen', { modelLanguages: ['en', 'de'] })
    expect(query).toMatchObject({ texts: ['Einen Flug buchen'], semanticWeight: 1 })
  })

  it('recognises the languages that a query in another language names', () => {
    expect(readQuery('请把这份合同翻译成英文').namedLanguages).toEqual(['en'])
  })
})

describe('rankCandidates', () => {
  it('ranks by rare words if the query has any, else by similarity', () => {
    const [byWords, bySimilarity] = [
      candidate(1, { wordScore: 2, similarities: { model: 0.3 } }),
      candidate(2, { similarities: { model: 0.6 } }),
    ]
    expect(order('a long and telling request', 8, byWords, bySimilarity)).toEqual([1, 2])
    expect(
      order('start exercising', 2, candidate(1, { wordScore: 0.1, similarities: { model: 0.25 } }), bySimilarity),
    ).toEqual([2, 1])
  })

  it('drops candidates with neither a matching word nor enough similarity', () => {
    expect(
      order('weather', 1, candidate(1, { similarities: { model: 0.14 } }), candidate(2, { wordScore: 0.1 })),
    ).toEqual([2])
  })

  it('AIDIP00-5.4-04 ranks agents higher if they speak a language that the query names', () => {
    const [english, chinese] = [
      candidate(1, { wordScore: 1, languages: ['en'] }),
      candidate(2, { wordScore: 1, languages: ['en', 'zh'] }),
    ]
    expect(order('translate this to Chinese', 3, english, chinese)).toEqual([2, 1])
  })

  it('prefers agents that speak the language of the query, or any language', () => {
    const other = candidate(1, { wordScore: 1, languages: ['bg'] })
    expect(
      order(
        'Помогите мне с рецептом',
        3,
        other,
        candidate(2, { wordScore: 1, languages: ['ru-RU'] }),
        candidate(3, { wordScore: 1 }),
      ),
    ).toEqual([2, 3, 1])
  })

  it('prefers agents described in the language of the query, else in one that the caller reads', () => {
    const first = (text: string, callerLanguages?: string[]): number | undefined => {
      const candidates = [candidate(1, { wordScore: 1, textLanguage: 'zh' }), candidate(2, { wordScore: 1 })]
      return rankCandidates(readQuery(text, { callerLanguages }), 3, candidates)[0]?.number
    }
    expect(first('sql')).toBe(2)
    expect(first('sql', ['zh'])).toBe(1)
    expect(first('数据库')).toBe(1)
  })

  it('prefers agents that convert in the direction of the request, and moves those that do the opposite down', () => {
    const candidates = [0.8, 0, -1].map((direction, number) => candidate(number, { wordScore: 1, direction }))
    expect(order('convert PDF to Word', 3, ...candidates.reverse())).toEqual([0, 1, 2])
  })

  it('gives scores between 0 and 1 and breaks ties by registration order', () => {
    const ranked = rankCandidates(
      readQuery('weather'),
      1,
      [2, 1].map((number) => candidate(number, { wordScore: 1, similarities: { model: 1 } })),
    )
    expect(ranked.map(({ number }) => number)).toEqual([1, 2])
    expect(ranked.every(({ score }) => score > 0.5 && score < 1)).toBe(true)
  })
})

describe('the parts of a score', () => {
  it('add up to it, whatever the words, the similarity, the direction and the languages are', () => {
    const query = readQuery('translate a contract to Chinese')
    const values = [0, 0.3, 1, 2.5]
    const all = values.flatMap((wordScore) =>
      [{}, { model: 0.1 }, { static: 0.4 }, { model: 0.9, static: 0.4 }].flatMap((similarities) =>
        [undefined, ['en'], ['zh'], ['de']].flatMap((languages) =>
          [undefined, 0.5, -1].map((direction) => ({ wordScore, similarities, languages, direction })),
        ),
      ),
    )
    const ranked = rankCandidates(
      query,
      3,
      all.map((each, number) => candidate(number, each)),
    )
    expect(ranked.length).toBeGreaterThan(120)
    for (const { number, score, parts } of ranked) {
      expect(parts.words + parts.meaning + parts.direction + parts.language).toBeCloseTo(score, 12)
      expect([parts.words > 0, parts.words < 0]).toEqual([(all[number]?.wordScore ?? 0) > 0, false])
      expect(Math.sign(parts.direction)).toBe(Math.sign(all[number]?.direction ?? 0))
      expect(Math.sign(parts.language)).toBe({ zh: 1, de: -1 }[all[number]?.languages?.[0] ?? ''] ?? 0)
    }
  })
})

describe('diversify', () => {
  it('keeps the first of several near-duplicates and moves the others behind different results', () => {
    const ranked = [1, 2, 3, 4, 5].map((number) => ({ number, score: 1 - number / 10 }))
    const common = [10, 11, 12, 13, 14, 15, 16, 17]
    const termsOf = (number: number) => new Set(number === 5 ? [1, 2, 3] : [...common, 20 + number])
    const publisherOf = () => 'flood.example'
    expect(diversify(ranked, { publisherOf, termsOf }).map(({ number }) => number)).toEqual([1, 5, 2, 3, 4])
    expect(diversify(ranked, { publisherOf: (number) => `p${number}`, termsOf })).toEqual(ranked)
  })
})

describe('embeddingTextsOf', () => {
  it('gives the agent, each operation and each example its own text', () => {
    const record = readRecord(
      'aidip',
      {
        name: 'WeatherBot',
        description: 'Forecasts.',
        tags: ['weather'],
        capabilities: ['forecast'],
        endpoint: 'https://a.example/',
        operations: [{ name: 'get_forecast', description: 'By city', inputs: {}, outputs: {} }],
        examples: [{ text: 'Will it rain?' }],
      },
      'w',
    )
    expect(embeddingTextsOf(record)).toEqual([
      { part: { kind: 'agent' }, text: 'Weather Bot: Forecasts. weather' },
      { part: { kind: 'operation', name: 'get_forecast' }, text: 'Weather Bot: get forecast. By city' },
      { part: { kind: 'example', position: 0 }, text: 'Will it rain?' },
    ])
  })
})
