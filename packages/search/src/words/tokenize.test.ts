import { describe, expect, it } from 'vitest'
import { detectLanguage } from './language.js'
import { tokenize } from './tokenize.js'

const terms = (text: string, language?: string): string[] => tokenize(text, { language }).map(({ term }) => term)

describe('tokenize', () => {
  it('gives the forms of an English word one stem and leaves out words that say nothing', () => {
    expect(terms('Please translate these translations')).toEqual(['translat', 'translat'])
  })

  it('splits camelCase and snake_case and keeps the whole', () => {
    expect(terms('getUserByName')).toEqual(['user', 'name', 'getuserbyname'])
    expect(terms('air_quality')).toEqual(['air', 'qualiti', 'airquality'])
    expect(terms('parseHTTPHeader')).toEqual(['pars', 'http', 'header', 'parsehttpheader'])
  })

  it('reads Chinese, Japanese and Korean by pairs of characters, with what stands between them', () => {
    expect(terms('翻译合同')).toEqual(['翻译', '译合', '合同'])
    expect(terms('번역')).toEqual(['번역'])
    expect(terms('用PDF翻')).toEqual(['用', 'pdf', '翻'])
  })

  it('takes full-width letters for plain ones and words of other scripts by their beginning', () => {
    expect(terms('ＰＤＦ')).toEqual(['pdf'])
    expect(terms('переводчик переводы')).toEqual(['перев', 'перев'])
  })

  it('leaves out the stop words of the language of the text', () => {
    expect(terms('ich brauche eine Übersetzung', 'de')).toEqual(['ubers'])
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
  ])('%s → %s', (text, language) => {
    expect(detectLanguage(text)).toBe(language)
  })
})
