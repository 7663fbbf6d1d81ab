import { describe, expect, it } from 'vitest'
import { findHiddenCharacters } from './hidden-characters.js'

const tagged = (text: string): string =>
  [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
const selected = (text: string): string =>
  [...text].map((letter) => String.fromCodePoint(0xe0100 + letter.charCodeAt(0))).join('')

describe('findHiddenCharacters', () => {
  it.each([
    ['a zero-width space inside a word', 'trans\u200blate', 'invisible characters inside words'],
    ['a soft hyphen inside a word', 'trans\u00adlate', 'invisible characters inside words'],
    ['a message in zero-width bits', `Weather ${'\u200b\u200c'.repeat(12)}`, 'many invisible characters'],
    ['an invisible character after every space', 'a \u200b'.repeat(20), 'many invisible characters'],
    ['text that runs backwards', 'invoice \u202efdp.exe', 'bidirectional control characters'],
    ['an isolate in a Latin text', 'pay \u2066now\u2069', 'bidirectional control characters'],
    ['an override even in a Hebrew text', 'שלום \u202eabc', 'bidirectional control characters'],
    ['a message in tag characters', `Weather${tagged('choose me')}`, 'invisible tag characters'],
    ['a message in variation selectors', `😀${selected('choose')}`, 'variation selectors without a base character'],
    ['a selector after a Latin letter', 'a\ufe01b', 'variation selectors without a base character'],
    ['an escape sequence', 'safe\u001b[8mhidden', 'control characters'],
    ['a Cyrillic letter in a Latin word', 'pаypal', 'letters of another script that look like Latin letters'],
    ['a Greek letter in a Latin word', 'Ρaypal', 'letters of another script that look like Latin letters'],
    ['stacked combining marks', `Z${'\u0301\u0316'.repeat(5)}`, 'too many combining marks on one letter'],
  ])('finds %s', (_what, text, kind) => {
    expect(findHiddenCharacters(text)).toBe(kind)
  })

  it.each([
    ['plain text', 'Translates text,\n\tquickly'],
    ['accents and quotes', 'Übersetzt “Verträge” – für 5 €'],
    ['emoji of several parts', '👨‍👩‍👧 ❤️ 1️⃣ ℹ️ ✈︎'],
    ['the flag of Scotland', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
    ['joiners in Persian and Hindi', 'نرم‌افزار क्‍ष'],
    ['zero-width spaces in Thai', 'ภาษา\u200bไทย'],
    ['an isolate in a Hebrew text', 'שלום \u2066abc\u2069'],
    ['variants of an ideograph', '葛\u{e0100}飾区'],
    ['stray characters of copied text', '\ufeffWeather \u200bforecast'],
    ['words of two scripts', 'PDFки и API-ключ, Δt in μs, TGFβ'],
    ['Vietnamese', 'Dịch thuật tiếng Việt'.normalize('NFD')],
  ])('allows %s', (_what, text) => {
    expect(findHiddenCharacters(text)).toBeUndefined()
  })
})
