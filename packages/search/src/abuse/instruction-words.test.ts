import { describe, expect, it } from 'vitest'
import { bitOf, classesOf, wordAt } from './instruction-words.js'

describe('classesOf', () => {
  it('returns the classes of a word without accents', () => {
    expect(classesOf('ignore') & bitOf('ignore')).not.toBe(0)
    expect(classesOf('precedentes')).toBe(bitOf('prior'))
    expect(classesOf('first') & bitOf('machine')).toBe(0)
    expect(classesOf('hotel')).toBe(0)
  })

  it('gives the first and the last class different bits', () => {
    expect(bitOf('ignore') & bitOf('machine')).toBe(0)
    expect(bitOf('machine')).not.toBe(0)
  })
})

describe('wordAt', () => {
  it('finds the longest word at a position, but none that is too short', () => {
    expect(wordAt('请从现在开始', 1, 1)).toBe('从现在开始')
    expect(wordAt('xxinstructions', 2, 5)).toBe('instructions')
    expect(wordAt('allow', 0, 5)).toBe('')
    expect(wordAt('hotel', 0, 1)).toBe('')
  })
})
