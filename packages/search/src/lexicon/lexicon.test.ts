import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { compileLanguage, openLexicon } from './lexicon.js'
import { vocabularyFile } from './lexicon-files.js'
import { LexiconError } from './parse-lexicon.js'

const lexicon = openLexicon()
/** The most usual meanings, word by word; unknown words as written. */
const english = (text: string, language: string): string =>
  (lexicon.gloss(text, language) ?? [])
    .map(({ word, parts }) => (parts.length > 0 ? parts.map(([first]) => first).join(' ') : `<${word}>`))
    .join(' ')

describe('gloss', () => {
  it.each([
    ['de', 'Wettervorhersage für Berlin', 'weather forecast <Berlin>', 'two-word terms, and names'],
    ['de', 'Rechnungsdaten auslesen', 'invoice data extract', 'compounds with linking letters'],
    ['de', 'Fasse diesen langen Text zusammen', 'summarize long text', 'separable verbs'],
    ['de', 'Wurde der Flug schon gebucht?', 'flight book', 'participles'],
    ['de', 'Uebersetzung der Vertraege', 'translation contract', 'umlauts written with e'],
    ['es', 'traducir los contratos', 'translate contract', 'plurals'],
    ['es', 'traduccion de una base de datos', 'translation database', 'terms of several words, missing accents'],
    ['fr', "l'assurance et les journaux", 'insurance newspaper', 'elision, and plurals that change the stem'],
    ['it', 'tradurlo in immagini', 'translate image', 'clitics'],
    ['pt', 'imagens e traduções', 'image translation', 'plurals that change the stem'],
    ['ru', 'переведи договоры', 'translate contract', 'imperatives and cases'],
    ['zh', '请帮我翻译合同', 'translation contract', 'segmentation without function words'],
    ['zh', '翻譯合約', 'translation contract', 'Traditional Chinese'],
    ['ja', '会議を要約したい', 'meeting summarize', 'segmentation without particles and endings'],
    ['ko', '계약서를 번역해 주세요', 'contract translate', 'particles and requests'],
    ['ko', '날씨예보', 'weather forecast', 'compounds'],
    ['nl', 'weersvoorspelling Amsterdam', 'weather forecast <Amsterdam>', 'terms and names'],
    ['nl', 'Ik heb een vlucht geboekt', 'flight book', 'participles'],
    ['pl', 'przetłumacz umowy na angielski', 'translate contract English', 'imperatives and cases'],
    ['tr', 'sözleşmelerimi çevirmek istiyorum', 'contract translate', 'several endings'],
    ['uk', 'переклади договори', 'translation contract', 'cases'],
    ['ar', 'ترجمة العقد والصور', 'translation contract image', 'articles and prefixes'],
    ['hi', 'अनुबंधों का अनुवाद', 'contract translation', 'plurals'],
    ['ja', '写真を探して', 'photo find', 'verbs'],
  ])('%s: %s → %s (%s)', (language, text, expected) => {
    expect(english(text, language)).toBe(expected)
  })

  it('does not take characters out of an unknown name', () => {
    expect(english('北辰', 'zh')).toBe('<北辰>')
  })

  it('does not look for inflected words in names', () => {
    expect(english('quiero hablar con Contratos Gómez', 'es')).not.toContain('contract')
  })

  it('gives several meanings, the most usual first', () => {
    expect(lexicon.gloss('Bank', 'de')?.[0]?.parts[0]?.[0]).toBe('bank')
    expect(lexicon.gloss('Rechnung', 'de')?.[0]?.parts[0]).toEqual(expect.arrayContaining(['invoice', 'bill']))
  })

  it('is undefined for a language that the lexicon does not have', () => {
    expect(lexicon.gloss('väder', 'sv')).toBeUndefined()
  })
})

describe('openLexicon', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lexicon-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  it('puts added words before its own, and takes added languages', () => {
    const path = file('ours.tsv', '# our products\nstapler\tKlammeraffe\nbill of lading\tn\tshipping\tFrachtbrief\n')
    const added = openLexicon([
      { language: 'de', path },
      { language: 'sv', path: file('sv.tsv', 'weather\tväder') },
    ])
    expect(added.gloss('Klammeraffe', 'de')?.[0]?.parts).toEqual([expect.arrayContaining(['stapler'])])
    expect(added.gloss('Frachtbrief', 'de')?.[0]?.parts).toEqual([['bill of lading']])
    expect(added.gloss('vader', 'sv')?.[0]?.parts).toEqual([['weather']])
  })

  it.each([
    ['weather', 'bad.tsv, line 2: write an English word, a tab, and its translations separated by semicolons'],
    ['weather\t ; ', 'bad.tsv, line 2: '],
    ['\tWetter', 'bad.tsv, line 2: '],
  ])('names the line that it cannot read: %j', (line, message) => {
    const path = file('bad.tsv', `rain\tRegen\n${line}\n`)
    expect(() => openLexicon([{ language: 'de', path }])).toThrow(LexiconError)
    expect(() => openLexicon([{ language: 'de', path }])).toThrow(message)
  })

  it('says which file is missing', () => {
    expect(() => openLexicon([{ language: 'de', path: '/nowhere/de.tsv' }])).toThrow('/nowhere/de.tsv cannot be read')
  })

  it('is compiled from the words as they are now', () => {
    for (const language of lexicon.languages)
      expect(readFileSync(vocabularyFile(language)).equals(compileLanguage(language)), language).toBe(true)
  })

  it('takes a few megabytes for all languages', () => {
    const bytes = lexicon.languages.reduce((sum, language) => sum + statSync(vocabularyFile(language)).size, 0)
    expect(bytes).toBeGreaterThan(1_000_000)
    expect(bytes).toBeLessThan(5_000_000)
  })
})
