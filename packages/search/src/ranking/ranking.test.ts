import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { type Candidate, rankCandidates } from './blend.js'
import { diversify } from './diversity.js'
import { meaningTextsOf } from './meaning-texts.js'
import { readQuery } from './query.js'

const candidate = (number: number, rest: Partial<Candidate> = {}): Candidate => ({
  number,
  words: 0,
  similarity: undefined,
  languages: undefined,
  ...rest,
})
const order = (text: string, best: number, ...candidates: Candidate[]): number[] =>
  rankCandidates(readQuery(text), best, candidates).map(({ number }) => number)

describe('readQuery', () => {
  it('AIDIP00-5.4-04 notices a language that is named, and not a cuisine', () => {
    expect(readQuery('translate product descriptions to Chinese').namedLanguages).toEqual(['zh'])
    expect(readQuery('from German into Brazilian or Portuguese').namedLanguages).toEqual(['de'])
    expect(readQuery('a good Chinese restaurant').namedLanguages).toEqual([])
  })

  it('looks for the sentences of a long request on their own, but not for greetings', () => {
    const text = 'Hello, chatbot! I plan a trip to Senegal. Find the distance from Dakar to Saly.'
    expect(readQuery(text).texts).toEqual([text, 'I plan a trip to Senegal.', 'Find the distance from Dakar to Saly.'])
  })

  it('does not believe an English model in other languages', () => {
    const trust = (text: string) => readQuery(text).meaningTrust
    expect(trust('Can you book a flight?')).toBe(1)
    expect(trust('Kannst du mir einen Flug buchen?')).toBeLessThan(1)
    expect(trust('我想订机票')).toBe(0)
    expect(readQuery('我想订机票', { modelLanguages: 'all' }).meaningTrust).toBe(1)
  })
})

describe('rankCandidates', () => {
  it('lets rare words decide where there are any, and meaning where there are none', () => {
    const [worded, meant] = [candidate(1, { words: 2, similarity: 0.3 }), candidate(2, { similarity: 0.6 })]
    expect(order('a long and telling request', 8, worded, meant)).toEqual([1, 2])
    expect(order('start exercising', 2, candidate(1, { words: 0.1, similarity: 0.25 }), meant)).toEqual([2, 1])
  })

  it('drops what neither words nor meaning found', () => {
    expect(order('weather', 1, candidate(1, { similarity: 0.19 }), candidate(2, { words: 0.1 }))).toEqual([2])
  })

  it('AIDIP00-5.4-04 raises agents that speak the language which the query names', () => {
    const [english, chinese] = [
      candidate(1, { words: 1, languages: ['en'] }),
      candidate(2, { words: 1, languages: ['en', 'zh'] }),
    ]
    expect(order('translate this to Chinese', 3, english, chinese)).toEqual([2, 1])
  })

  it('prefers agents that speak the language of the query or any', () => {
    const other = candidate(1, { words: 1, languages: ['bg'] })
    expect(
      order(
        'Помогите мне с рецептом',
        3,
        other,
        candidate(2, { words: 1, languages: ['ru-RU'] }),
        candidate(3, { words: 1 }),
      ),
    ).toEqual([2, 3, 1])
  })

  it('gives scores from 0 to 1 and breaks ties by registration', () => {
    const ranked = rankCandidates(
      readQuery('weather'),
      1,
      [2, 1].map((number) => candidate(number, { words: 1, similarity: 1 })),
    )
    expect(ranked.map(({ number }) => number)).toEqual([1, 2])
    expect(ranked.every(({ score }) => score > 0.5 && score < 1)).toBe(true)
  })
})

describe('diversify', () => {
  it('lets one of many copies stand and moves the others behind what is different', () => {
    const ranked = [1, 2, 3, 4, 5].map((number) => ({ number, score: 1 - number / 10 }))
    const common = [10, 11, 12, 13, 14, 15, 16, 17]
    const termsOf = (number: number) => new Set(number === 5 ? [1, 2, 3] : [...common, 20 + number])
    const publisherOf = () => 'flood.example'
    expect(diversify(ranked, { publisherOf, termsOf }).map(({ number }) => number)).toEqual([1, 5, 2, 3, 4])
    expect(diversify(ranked, { publisherOf: (number) => `p${number}`, termsOf })).toEqual(ranked)
  })
})

describe('meaningTextsOf', () => {
  it('gives the agent and each thing it does a text of its own', () => {
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
    expect(meaningTextsOf(record)).toEqual([
      { part: { kind: 'agent' }, text: 'Weather Bot: Forecasts. weather' },
      { part: { kind: 'operation', name: 'get_forecast' }, text: 'Weather Bot: get forecast. By city' },
      { part: { kind: 'example', position: 0 }, text: 'Will it rain?' },
    ])
  })
})
