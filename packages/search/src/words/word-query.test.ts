import { describe, expect, it } from 'vitest'
import { readQuery } from '../ranking/read-query.js'
import { createWordIndex } from './word-index.js'

const fields = (title: string) => ({ title: [title], description: [], schema: [], example: [], gloss: [] })
const index = (...titles: string[]) => {
  const words = createWordIndex()
  for (const [number, title] of titles.entries()) words.put(number, fields(title))
  return words
}

describe('a glossed query', () => {
  it('has one group for each word: the word itself and what it means', () => {
    const [contract] = readQuery('Vertrag übersetzen').words.terms.filter(({ english }) => english === 'contract')
    expect(contract).toMatchObject({ word: 'Vertrag', term: 'contract', group: 0 })
    expect(contract?.weight).toBeLessThan(1)
    expect(new Set(readQuery('Vertrag übersetzen').words.terms.map(({ group }) => group))).toEqual(new Set([0, 1]))
  })

  it('counts only the best term of a group', () => {
    const words = index('contract', 'contract agreement', 'contract agreement Vertrag')
    const { words: query } = readQuery('der Vertrag')
    const { hits, maxScore } = words.search(query, { limit: 10 })
    expect(hits.map(({ number }) => number)).toHaveLength(3)
    expect(Math.max(...hits.map(({ score }) => score))).toBeLessThanOrEqual(maxScore)
  })

  it('does not miss the original word where every agent is described in English', () => {
    const words = index('contract translator', 'weather')
    const max = (text: string) => words.search(readQuery(text).words, { limit: 1 }).maxScore
    expect(max('den Vertrag übersetzen')).toBeLessThanOrEqual(max('translate the contract'))
    expect(max('请翻译合同')).toBeLessThanOrEqual(max('translate the contract'))
  })

  it('finds adjacent words in English order, whatever the order in the query', () => {
    const words = index('image generator', 'generator for an image')
    const { hits } = words.search(readQuery('generador de imágenes').words, { limit: 2 })
    expect(hits[0]?.score).toBeGreaterThan(hits[1]?.score ?? 0)
    expect(hits[0]?.number).toBe(0)
  })

  it('says in the evidence which English word was found instead', () => {
    const words = index('weather forecast')
    expect(words.matches(readQuery('die Wettervorhersage').words, 0)).toEqual([
      { word: 'Wettervorhersage', english: 'weather forecast', fields: ['title'] },
    ])
  })

  it('leaves out words that only ask for something', () => {
    expect(readQuery('ich brauche einen Vertrag').words.terms.map(({ word }) => word)).not.toContain('brauche')
    expect(readQuery('Zeige mir Verträge').words.terms.map(({ word }) => word)).not.toContain('Zeige')
  })

  it('searches the characters of a pair with less weight, but no stop words and none twice', () => {
    const characters = (text: string) => readQuery(text).words.terms.filter(({ isCharacter }) => isCharacter)
    expect(characters('我的税务').map(({ term }) => term)).toEqual(['税', '务'])
    expect(characters('税务税务').map(({ term }) => term)).toEqual(['税', '务'])
    expect(characters('税务').every(({ weight }) => weight < 1)).toBe(true)
    expect(characters('책을 추천')).toEqual([])
  })

  it('searches for a word of one character at the start as it is', () => {
    const [first] = readQuery('税怎么报').words.terms
    expect(first).toMatchObject({ term: '税', weight: 1 })
  })
})
