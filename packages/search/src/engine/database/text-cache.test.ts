import { describe, expect, it } from 'vitest'
import type { AgentText } from '../../agent-text.js'
import { createTextSearch } from '../../text-search.js'
import { createWordIndex } from '../../words/word-index.js'
import { createTextCache } from './text-cache.js'

const textOf = (word: string): AgentText => ({
  name: word,
  description: '',
  fields: { title: [word], description: [], schema: [], example: [], gloss: [] },
  embedded: [word],
  firstExample: 1,
  languages: undefined,
})
const SIZE = JSON.stringify(textOf('a')).length

/** A cache for three agents, over tables in which agent n has the version and word of `stored`. */
function createThree(stored: Map<number, { version: number; word: string }>) {
  const words = createWordIndex()
  const reads: number[][] = []
  const contents = async (numbers: readonly number[]) => {
    reads.push([...numbers])
    return numbers.flatMap((number) => {
      const row = stored.get(number)
      if (!row) return []
      const content = JSON.stringify(textOf(row.word))
      return [{ number, version: row.version, stamp: 0, isPublic: true, content, packed: undefined }]
    })
  }
  const cache = createTextCache(createTextSearch({ words }), { contents }, 3 * SIZE)
  const use = (...rows: [number, number][]) =>
    cache.use(
      rows.map(([number, version]) => ({ number, version, stamp: 0 })),
      (numbers) => [...numbers],
    )
  return { cache, words, reads, use }
}

describe('createTextCache', () => {
  it('reads what is missing or of another version, once', async () => {
    const stored = new Map([1, 2, 3].map((number) => [number, { version: 1, word: 'a' }]))
    const { cache, words, reads, use } = createThree(stored)
    cache.put(1, textOf('a'), 1, true, SIZE)
    expect(await use([1, 1], [2, 1])).toEqual([1, 2])
    expect(await use([1, 1], [2, 1])).toEqual([1, 2])
    expect(reads).toEqual([[2]])
    stored.set(2, { version: 2, word: 'b' })
    await use([2, 2])
    expect(words.frequencyOf('b')).toBe(1)
    expect(reads).toEqual([[2], [2]])
  })

  it('leaves out agents that were removed meanwhile', async () => {
    const { use } = createThree(new Map([[1, { version: 1, word: 'a' }]]))
    expect(await use([1, 1], [9, 1])).toEqual([1])
  })

  it('drops those that were used least recently, but none that is in use', async () => {
    const stored = new Map([1, 2, 3, 4, 5].map((number) => [number, { version: 1, word: 'a' }]))
    const { words, reads, use } = createThree(stored)
    expect(await use([1, 1], [2, 1], [3, 1], [4, 1])).toEqual([1, 2, 3, 4])
    expect(words.size).toBe(3)
    await use([2, 1])
    await use([5, 1])
    await use([2, 1], [4, 1])
    expect(reads).toEqual([[1, 2, 3, 4], [5]])
    expect(words.size).toBe(3)
  })
})
