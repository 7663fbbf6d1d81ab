import { describe, expect, it } from 'vitest'
import { splitAtMatches } from './split-at-matches.js'

const marked = (text: string, ...words: string[]): string =>
  splitAtMatches(text, words)
    .map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
    .join('')

describe('highlighted words', () => {
  it('are found in any case and form', () => {
    expect(
      marked('Translates contracts. A translation by a translator of contract law.', 'translate', 'Contract'),
    ).toBe('[Translates] [contracts]. A [translation] by a [translator] of [contract] law.')
  })

  it('are found with and without accents', () => {
    expect(marked('Prévisions météo', 'meteo')).toBe('Prévisions [météo]')
    expect(marked('Meteo und U\u0308bersetzung', 'météo', 'übersetzung')).toBe('[Meteo] und [U\u0308bersetzung]')
  })

  it('are found inside scripts that have no spaces', () => {
    expect(marked('把合同翻译成英文', '翻译', '合同')).toBe('把[合同翻译]成英文')
  })

  it('are whole words, and short ones only as they are written', () => {
    expect(marked('The art of cartography', 'art')).toBe('The [art] of cartography')
    expect(marked('cares about a car', 'car')).toBe('cares about a [car]')
  })

  it('are marked at the right place after characters that have another length in lower case', () => {
    expect(marked('İstanbul 🌤 ﬁnds weather', 'weather', 'finds')).toBe('İstanbul 🌤 [ﬁnds] [weather]')
  })
})
