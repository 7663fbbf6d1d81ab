import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TermReader } from './term-reader.js'
import { Terms } from './terms.js'
import { tokenize } from './tokenize.js'

const room = (end: number) => ({ terms: new Uint32Array(end), filled: 0, end })

describe('TermReader', () => {
  it('reads any text as tokenize does, the first time and when it knows the words', () => {
    const word = fc.constantFrom(
      'air',
      'Quality',
      'air_quality',
      'getUserByName',
      'the',
      'über',
      'ＰＤＦ',
      '翻译合同',
      '—',
    )
    const text = fc.oneof(
      fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)),
      fc.string(),
      fc.array(word).map((words) => words.join(' ')),
    )
    const terms = new Terms(0)
    const readers = [{}, { keepStopWords: true }].map((options) => ({
      options,
      reader: new TermReader(terms, 64, options),
    }))
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 12 }), (said, end) => {
        for (const { options, reader } of readers) {
          const expected = tokenize(said, options).slice(0, end)
          for (let time = 0; time < 2; time++) {
            const sequence = room(end)
            reader.read(said, sequence)
            const read = [...sequence.terms.subarray(0, sequence.filled)]
            expect(read).toEqual(expected.map(({ term }) => terms.find(term)))
          }
        }
      }),
    )
  })

  it('gives a word another number when its own was released', () => {
    const terms = new Terms(0)
    const reader = new TermReader(terms, 16)
    const read = (text: string): number[] => {
      const sequence = room(8)
      reader.read(text, sequence)
      return [...sequence.terms.subarray(0, sequence.filled)]
    }
    expect(read('weather forecast')).toEqual([0, 1])
    terms.release(0)
    terms.take('music')
    expect(read('weather forecast')).toEqual([2, 1])
  })

  it('takes no terms that have no room', () => {
    const terms = new Terms(0)
    new TermReader(terms, 16).read('getUserByName weather', room(1))
    expect(terms.size).toBe(1)
  })

  it.each([16, 2000, 5000])('reads more different words than the %i it remembers', (most) => {
    const terms = new Terms(0)
    const reader = new TermReader(terms, most)
    for (let i = 0; i < 12_000; i++) {
      const sequence = room(2)
      reader.read(`x${i} x${i >> 1}`, sequence)
      expect([...sequence.terms]).toEqual([i, i >> 1])
    }
    expect(reader.bytes).toBeLessThan(200 * most + 10_000)
  })
})
