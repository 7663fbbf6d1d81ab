import { describe, expect, it } from 'vitest'
import { foldTag, matchesLanguage, speaks } from './languages.js'

describe('languages', () => {
  it('matches a range and its subtags, case-insensitively (C-13)', () => {
    expect(matchesLanguage('zh', 'zh-CN')).toBe(true)
    expect(matchesLanguage('ZH', 'zh')).toBe(true)
    expect(matchesLanguage('*', 'fr')).toBe(true)
    expect(matchesLanguage('zh-CN', 'zh')).toBe(false)
    expect(matchesLanguage('z', 'zh')).toBe(false)
  })

  it('AIDIP-3.1-13 counts an agent without a list as supporting every language', () => {
    expect(speaks(undefined, 'fr')).toBe(true)
    expect(speaks([], 'fr')).toBe(false)
    expect(speaks(['en', 'fr-CA'], 'fr')).toBe(true)
  })

  it('folds case and composition of tags (C-16)', () => {
    expect(foldTag('NLP')).toBe('nlp')
    expect(foldTag('E\u0301tude')).toBe(foldTag('étude'))
  })
})
