import { describe, expect, it } from 'vitest'
import { MAX_KEPT_MEANINGS, MeaningTable } from './meaning-table.js'

describe('MeaningTable', () => {
  it('keeps the meanings of each word in order, without repeating one, however many words there are', () => {
    const table = new MeaningTable()
    const words = Array.from({ length: 5000 }, (_, i) => `word ${i}`)
    for (const [i, word] of words.entries()) for (const meaning of [i, 2 * i, i]) table.add(word, meaning)
    expect(words.every((word, i) => table.find(word).join() === [...new Set([i, 2 * i])].join())).toBe(true)
    expect(table.has('word 5000')).toBe(false)
    expect(table.find('word 5000')).toEqual([])
  })

  it('drops further meanings', () => {
    const table = new MeaningTable()
    for (let meaning = 0; meaning < 10; meaning++) table.add('set', meaning)
    expect(table.find('set')).toHaveLength(MAX_KEPT_MEANINGS)
  })
})
