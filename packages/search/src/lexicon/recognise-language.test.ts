import { describe, expect, it } from 'vitest'
import { openLexicon } from './lexicon.js'
import { recogniseLanguage } from './recognise-language.js'

const lexicon = openLexicon()

describe('recogniseLanguage', () => {
  it.each([
    ['Wettervorhersage Berlin', 'de'],
    ['Text übersetzen', 'de'],
    ['Hähnchenrezept', 'de'],
    ['Rechnungsprogramm', 'de'],
    ['traducir contrato', 'es'],
    ['traduire contrat', 'fr'],
    ['tradurre contratto', 'it'],
    ['imagens bonitas', 'pt'],
    ['天気予報', 'ja'],
    ['天气预报', 'zh'],
    ['翻译合同', 'zh'],
    ['погода завтра', 'ru'],
    ['створення зображень', 'uk'],
    ['ترجمة العقود', 'ar'],
    ['generowanie obrazów', 'pl'],
    ['weersvoorspelling Amsterdam', 'nl'],
  ])('recognises %j without a stop word as %s', (text, language) => {
    expect(recogniseLanguage(text, lexicon)).toBe(language)
  })

  it.each([
    'weather Paris',
    'resume builder',
    'pizza delivery',
    'chess puzzle generator',
    'hotel restaurant',
    'dashboard workflow',
  ])('takes %j for English', (text) => {
    expect(recogniseLanguage(text, lexicon)).toBe('en')
  })

  it.each(['sql', 'Kubernetes', 'PostgreSQL', 'feline', 'weatherstack', '1234'])(
    'does not guess what %j is',
    (text) => {
      expect(recogniseLanguage(text, lexicon)).toBeUndefined()
    },
  )

  it('looks up no more words when no other language can win', () => {
    const lookedUp: string[] = []
    const counting = {
      ...lexicon,
      knowsEnglish: (word: string) => {
        lookedUp.push(word)
        return lexicon.knowsEnglish(word)
      },
    }
    expect(recogniseLanguage('Ich möchte für meine Rechnungen eine Übersicht', counting)).toBe('de')
    expect(lookedUp).not.toContain('übersicht')
  })
})
