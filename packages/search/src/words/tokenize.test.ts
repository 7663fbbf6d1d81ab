import { describe, expect, it } from 'vitest'
import { charactersOfPair, detectLanguage, tokenize } from './tokenize.js'

const terms = (text: string, language?: string): string[] => tokenize(text, { language }).map(({ term }) => term)

describe('tokenize', () => {
  it('stems English words and removes stop words', () => {
    expect(terms('Please translate these translations')).toEqual(['translat', 'translat'])
  })

  it('yields the parts and the whole of camelCase and snake_case', () => {
    expect(terms('getUserByName')).toEqual(['user', 'name', 'getuserbyname'])
    expect(terms('air_quality')).toEqual(['air', 'qualiti', 'airquality'])
    expect(terms('parseHTTPHeader')).toEqual(['pars', 'http', 'header', 'parsehttpheader'])
  })

  it('yields character bigrams for scripts without spaces, also in mixed text', () => {
    expect(terms('翻译合同')).toEqual(['翻译', '译合', '合同'])
    expect(terms('번역')).toEqual(['번역'])
    expect(terms('用PDF翻')).toEqual(['用', 'pdf', '翻'])
  })

  it('normalises full-width letters and truncates words of other alphabets to a prefix', () => {
    expect(terms('ＰＤＦ')).toEqual(['pdf'])
    expect(terms('переводчик переводы')).toEqual(['перев', 'перев'])
  })

  it('removes the stop words of the given language', () => {
    expect(terms('ich brauche eine Übersetzung', 'de')).toEqual(['ubers'])
  })
})

describe('charactersOfPair', () => {
  it('yields those characters of a pair that are words', () => {
    expect(charactersOfPair('税务')).toEqual(['税', '务'])
    expect(charactersOfPair('食べ')).toEqual(['食', ''])
    expect(charactersOfPair('𠮷野')).toEqual(['𠮷', '野'])
    expect(charactersOfPair('책을')).toEqual(['책', '을'])
    expect(['税', 'tax', 'ox', 'юг', '報告書'].flatMap(charactersOfPair)).toEqual([])
  })
})

describe('detectLanguage', () => {
  it.each([
    ['Can you help me with my taxes?', 'en'],
    ['Kannst du mir bei der Steuer helfen?', 'de'],
    ['Pouvez-vous m’aider avec mes impôts ?', 'fr'],
    ['¿Puedes ayudarme con mis impuestos?', 'es'],
    ['Você pode me ajudar com meus impostos?', 'pt'],
    ['Помогите мне с налогами, пожалуйста', 'ru'],
    ['هل يمكنك مساعدتي في الضرائب؟', 'ar'],
    ['我需要报税的帮助', 'zh'],
    ['税金について教えてください', 'ja'],
    ['세금 문제를 도와주세요', 'ko'],
    ['1234', undefined],
    ['Kubernetes', undefined],
  ])('recognises %j as %s', (text, language) => {
    expect(detectLanguage(text)).toBe(language)
  })
})
