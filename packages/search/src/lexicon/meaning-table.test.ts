import { describe, expect, it } from 'vitest'
import { MAX_KEPT_MEANINGS, MeaningTable } from './meaning-table.js'

describe('MeaningTable', () => {
  it('keeps the meanings of each word in order, without repeating one, however many words there are', () => {
    const words = Array.from({ length: 5000 }, (_, i) => `word ${i}`)
    const meaningsOf = (i: number): string[] => [`café ${i}`, `meaning ${2 * i}`, `café ${i}`]
    const table = MeaningTable.of(words.flatMap((word, i) => meaningsOf(i).map((english) => [word, english] as const)))
    for (const each of [table, new MeaningTable(Uint8Array.from(table.bytes))]) {
      expect(words.every((word, i) => each.find(word).join() === [...new Set(meaningsOf(i))].join())).toBe(true)
      expect(each.has('word 4999')).toBe(true)
      expect(each.has('word 5000')).toBe(false)
      expect(each.find('word 5000')).toEqual([])
    }
  })

  it('drops further meanings', () => {
    const table = MeaningTable.of(Array.from({ length: 10 }, (_, i) => ['set', `meaning ${i}`] as const))
    expect(table.find('set')).toEqual(Array.from({ length: MAX_KEPT_MEANINGS }, (_, i) => `meaning ${i}`))
  })

  it('may be empty', () => {
    expect(MeaningTable.of([]).find('word')).toEqual([])
  })
})
