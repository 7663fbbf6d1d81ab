import { beforeEach, describe, expect, it } from 'vitest'
import { openLexicon } from '../lexicon/lexicon.js'
import type { TextFields } from '../words/text-fields.js'
import { createWordIndex, type WordIndex } from '../words/word-index.js'
import { type CorrectOptions, createSpeller, type Speller } from './speller.js'

const fieldsOf = (...texts: string[]): TextFields => ({
  title: [],
  description: texts,
  schema: [],
  example: [],
  gloss: [],
})

const AGENTS = [
  'Weather forecast for any city, with the temperature and the weather of the week.',
  'Translate a contract and other documents. Translation into Chinese.',
  'Timezone of a city. Book a hotel, find restaurants and hair salons.',
  'Прогноз погоды и перевод. Traducción de documentos, zorbléxia. Hilft bei der Übersetzung.',
]
const ENGLISH = ['the', 'paris', 'lodging', 'safe', 'kitten', 'umbrella']

let words: WordIndex
let speller: Speller
beforeEach(() => {
  words = createWordIndex()
  speller = createSpeller(words, { english: ENGLISH, lexicon: openLexicon() })
  AGENTS.forEach((text, number) => {
    put(number, text)
  })
})

function put(number: number, text: string, isPublic = true): void {
  words.put(number, fieldsOf(text), isPublic)
  if (isPublic) speller.put(number, fieldsOf(text))
}

const correct = (text: string, options?: CorrectOptions): string => speller.correct(text, options).text

describe('a query is corrected', () => {
  it.each([
    ['tranlsate a contrcat', 'translate a contract'],
    ['wether forecats for the cuty', 'weather forecast for the city'],
    ['wheater', 'weather'],
    ['restuarants in Paris', 'restaurants in Paris'],
    ['pleese find a hotrl', 'please find a hotel'],
    ['Tranlsate this', 'translate this'],
    ['TRANLSATE THIS', 'translate THIS'],
  ])('towards words that agents have: %s', (text, corrected) => expect(correct(text)).toBe(corrected))

  it.each([
    ['прогоз погоды', 'прогноз погоды'],
    ['zorblexia de un documento', 'zorbléxia de un documento'],
    ['brauche ich eine Übrsetzung', 'brauche ich eine übersetzung'],
  ])('in scripts with letters: %s', (text, corrected) => expect(correct(text)).toBe(corrected))

  it('by splitting and joining words', () => {
    expect(correct('weatherforecast')).toBe('weather forecast')
    expect(correct('wheaterforecast for the week')).toBe('weather forecast for the week')
    expect(correct('time zonne')).toBe('time zonne')
    expect(correct('timez one of a city')).toBe('timezone of a city')
  })

  it('towards English words that no agent has, if agents have none', () => {
    expect(correct('hotel with umbrela')).toBe('hotel with umbrella')
  })

  it('and tells what was replaced, in the order of the text', () => {
    expect(speller.correct('Tranlsate the wether-report').corrections).toEqual([
      { from: 'Tranlsate', to: 'translate' },
      { from: 'wether', to: 'weather' },
    ])
  })

  it('until no agent has the word any more', () => {
    speller.remove(1)
    words.remove(1)
    expect(correct('tranlsate a contrcat')).toBe('tranlsate a contrcat')
    expect(correct('wether')).toBe('weather')
  })
})

describe('a query is not corrected', () => {
  it.each([
    ['translating hotels', 'other forms of the words of agents'],
    ['lodging and safe kittens', 'words of the dictionary'],
    ['about these which', 'stop words'],
    ['my Haier is broken', 'names'],
    ['Haier', 'a short word that may be a name'],
    ['getWeathr wether_id WETHER2 v12', 'identifiers'],
    ['https://wether.example/tranlsate wether@example.com wether.txt', 'URLs, addresses and files'],
    ['"tranlsate" the “wether” and \'contrcat\' of «forecats»', 'quoted words'],
    ['wth hetl htl', 'words that are too short or too different'],
    ['翻译合冋', 'scripts without spaces'],
  ])('%s: %s', (text) => expect(speller.correct(text)).toMatchObject({ text, corrections: [] }))

  it('if it is to be searched as it is', () => {
    expect(correct('tranlsate', { exact: true })).toBe('tranlsate')
  })

  it('if a lexicon knows the word', () => {
    expect(correct('contratx')).toBe('contract')
    expect(correct('contrato')).toBe('contrato')
  })

  it('towards words that only private agents have, nor because of them, except for those who see them', () => {
    put(9, 'Zorblaxing of a wether', false)
    expect(correct('zorblaxin')).toBe('zorblaxin')
    expect(correct('wether')).toBe('weather')
    expect(correct('wether', { privateAgents: [9] })).toBe('wether')
  })
})

describe('a query without a known word', () => {
  it('is recognised, and similar words are suggested', () => {
    expect(speller.correct('zzqqxx asdfghjkl').unknown).toEqual(['zzqqxx', 'asdfghjkl'])
    expect(speller.correct('zzqqxx weather').unknown).toEqual([])
    expect(speller.correct('zzqqxx wether').unknown).toEqual([])
    expect(speller.correct('zzqqxx of the').unknown).toEqual(['zzqqxx'])
    expect(speller.correct('what is it').unknown).toEqual([])
    expect(speller.suggest(['wzathr', 'zzqqxx'])).toEqual(['weather'])
  })

  it('has suggestions that begin alike if nothing is similar', () => {
    expect(speller.suggest(['hoqqqzzzxx'])).toEqual(['hotel'])
    expect(speller.suggest(['zzqqxx'])).toEqual([])
  })
})

it('corrects a hostile text in bounded time', () => {
  const random = (i: number): string => (i * 7919).toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[+digit] ?? '')
  for (let i = 0; i < 300; i++)
    put(100 + i, Array.from({ length: 100 }, (_, j) => `${random(i * 100 + j)}abc`).join(' '))
  const text = Array.from({ length: 1000 }, (_, i) => `${random(i + 50)}wxyz`).join(' ')
  const started = process.cpuUsage()
  expect(speller.correct(text).corrections.length).toBeLessThanOrEqual(16)
  expect(process.cpuUsage(started).user).toBeLessThan(500_000)
})
