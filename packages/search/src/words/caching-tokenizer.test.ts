import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TermDictionary } from './analyzer.js'
import { CachingTokenizer } from './caching-tokenizer.js'
import { tokenize } from './tokenize.js'

const sequenceOf = (end: number) => ({ terms: new Uint32Array(end), filled: 0, end })

describe('CachingTokenizer', () => {
  it('gives the same terms as tokenize for any text, both uncached and cached', () => {
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
    const terms = new TermDictionary(0)
    const tokenizers = [{}, { keepStopWords: true }].map((options) => ({
      options,
      tokenizer: new CachingTokenizer(terms, 64, options),
    }))
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 12 }), (input, end) => {
        for (const { options, tokenizer } of tokenizers) {
          const expected = tokenize(input, options).slice(0, end)
          for (let time = 0; time < 2; time++) {
            const sequence = sequenceOf(end)
            tokenizer.tokenize(input, sequence)
            const read = [...sequence.terms.subarray(0, sequence.filled)]
            expect(read).toEqual(expected.map(({ term }) => terms.find(term)))
          }
        }
      }),
    )
  })

  it('drops cached ids when the dictionary has released one', () => {
    const terms = new TermDictionary(0)
    const tokenizer = new CachingTokenizer(terms, 16)
    const read = (text: string): number[] => {
      const sequence = sequenceOf(8)
      tokenizer.tokenize(text, sequence)
      return [...sequence.terms.subarray(0, sequence.filled)]
    }
    expect(read('weather forecast')).toEqual([0, 1])
    terms.release(0)
    terms.assign('music')
    expect(read('weather forecast')).toEqual([2, 1])
  })

  it('assigns no ids to terms that do not fit into the sequence', () => {
    const terms = new TermDictionary(0)
    new CachingTokenizer(terms, 16).tokenize('getUserByName weather', sequenceOf(1))
    expect(terms.size).toBe(1)
  })

  it.each([16, 2000, 5000])('stays correct and small with more distinct words than the %i it caches', (maxChunks) => {
    const terms = new TermDictionary(0)
    const tokenizer = new CachingTokenizer(terms, maxChunks)
    for (let i = 0; i < 12_000; i++) {
      const sequence = sequenceOf(2)
      tokenizer.tokenize(`x${i} x${i >> 1}`, sequence)
      expect([...sequence.terms]).toEqual([i, i >> 1])
    }
    expect(tokenizer.bytes).toBeLessThan(200 * maxChunks + 10_000)
  })
})
