import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { readVocabulary } from './model-folder.js'
import { createTokenizer, type Tokenizer, type Vocabulary } from './tokenizer.js'

describe('createTokenizer', () => {
  const vocabulary: Vocabulary = [
    ['<unk>', null],
    ['<s>', null],
    ['▁', -5],
    ['a', -4],
    ['b', -4],
    ['ab', -3],
    ['▁ab', -6],
    ['abab', -20],
  ]
  const { encode } = createTokenizer(vocabulary, 8)

  it('chooses the most probable pieces, not the longest', () => {
    expect(encode('abab')).toEqual([6, 5])
  })

  it('merges consecutive unknown characters into one unknown piece', () => {
    expect(encode('a😀語b')).toEqual([2, 3, 0, 4])
  })

  it('never produces a reserved piece', () => {
    expect(encode('<s>')).toEqual([2, 0])
  })

  it('collapses white space and control characters, and trims the text', () => {
    expect(encode(' \t ab\r\n\u0000\u3000ab\u00a0')).toEqual([6, 6])
  })

  it('ignores invisible characters', () => {
    expect(encode('\u200ba\u200db\u2060\ufeff')).toEqual([6])
  })

  it('returns no ids for a text without visible characters', () => {
    expect(encode('')).toEqual([])
    expect(encode(' \n\u200b')).toEqual([])
  })

  it('truncates at the last token, even within a word', () => {
    expect(encode('ab '.repeat(100))).toEqual(Array(8).fill(6))
    expect(encode('a'.repeat(1_000_000))).toEqual([2, ...Array(7).fill(3)])
  })
})

describe('createTokenizer with the built-in vocabulary', () => {
  let tokenizer: Tokenizer
  beforeAll(async () => {
    tokenizer = createTokenizer(await readVocabulary(fileURLToPath(new URL('../../model', import.meta.url))), 128)
  })

  // Expected ids from the original runtime, @energetic-ai/embeddings 0.2.0.
  it.each([
    ['How do I get to the airport?', [728, 64, 16, 81, 10, 9, 4893, 54]],
    ['translate a contract into Chinese', [6099, 11, 1409, 144, 2598]],
    [
      "I'd like a 5-day weather forecast for Zürich, please!",
      [16, 13, 29, 60, 11, 301, 24, 944, 3524, 6694, 22, 1677, 6980, 5535, 8, 1416, 78],
    ],
    ['e-mail: café résumé naïve', [299, 24, 2880, 57, 976, 209, 1133, 1067, 1133, 7, 400, 1133, 1216, 0, 105]],
    ['ﬁnancial ½ Ｆｕｌｌｗｉｄｔｈ', [1328, 207, 7935, 288, 6714, 1580, 29, 128]],
    ['天気 weather 予報', [30, 0, 3524, 30, 0]],
    [
      'Meet at 10:30 or 11:00, see https://example.com/a_b?c=d :)',
      [
        502, 445, 38, 320, 4177, 39, 778, 5920, 8, 158, 290, 7, 255, 773, 1563, 147, 6, 167, 68, 86, 435, 151, 54, 131,
        413, 29, 658,
      ],
    ],
    ['supercalifragilisticexpialidocious', [1050, 2817, 928, 276, 143, 233, 2098, 6489, 983, 303, 102, 2907]],
    ['NASA API v2 JSON', [7637, 3166, 109, 1174, 288, 619, 141, 1715]],
    ['🙂 happy', [30, 0, 964]],
  ])('splits %j like the original runtime', (text, ids) => {
    expect(tokenizer.encode(text)).toEqual(ids)
  })
})
