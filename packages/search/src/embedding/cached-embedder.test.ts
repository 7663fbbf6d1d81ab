import { describe, expect, it } from 'vitest'
import { createCachedEmbedder } from './cached-embedder.js'
import type { Embedder } from './embedder.js'

/** Gives the length of a text, and notes down what it was asked. */
function createFake() {
  const asked: string[][] = []
  const fake = {
    asked,
    failing: false,
    closed: false,
    id: 'fake',
    dimensions: 1,
    async embed(texts: readonly string[]): Promise<Float32Array[]> {
      asked.push([...texts])
      if (fake.failing) throw new Error('down')
      return texts.map((text) => Float32Array.of(text.length))
    },
    async close(): Promise<void> {
      fake.closed = true
    },
  } satisfies Embedder & Record<string, unknown>
  return fake
}

const lengths = (vectors: Float32Array[]): (number | undefined)[] => vectors.map((vector) => vector[0])

describe('a cached embedder', () => {
  it('asks for each text once, and for all that is missing at once', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    expect(lengths(await embedder.embed(['a', 'bb', 'a']))).toEqual([1, 2, 1])
    expect(lengths(await embedder.embed(['ccc', 'bb', 'a', 'dddd']))).toEqual([3, 2, 1, 4])
    expect(lengths(await embedder.embed(['a']))).toEqual([1])
    expect(fake.asked).toEqual([
      ['a', 'bb'],
      ['ccc', 'dddd'],
    ])
  })

  it('asks once for a text that several want at the same time', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    await Promise.all([embedder.embed(['a']), embedder.embed(['a'])])
    expect(fake.asked).toEqual([['a']])
  })

  it('forgets the text that was not asked for the longest', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 2)
    await embedder.embed(['a'])
    await embedder.embed(['b'])
    await embedder.embed(['a'])
    await embedder.embed(['c'])
    await embedder.embed(['a'])
    expect(fake.asked).toEqual([['a'], ['b'], ['c']])
    await embedder.embed(['b'])
    expect(fake.asked).toHaveLength(4)
  })

  it('gives more vectors at once than it keeps', async () => {
    const embedder = createCachedEmbedder(createFake(), 1)
    expect(lengths(await embedder.embed(['a', 'bb', 'ccc', 'a']))).toEqual([1, 2, 3, 1])
    expect(lengths(await embedder.embed(['bb', 'a']))).toEqual([2, 1])
  })

  it('does not remember a failure', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    fake.failing = true
    await expect(embedder.embed(['a'])).rejects.toThrow('down')
    fake.failing = false
    expect(lengths(await embedder.embed(['a']))).toEqual([1])
  })

  it('does not keep long texts', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    const text = 'a'.repeat(10_000)
    await embedder.embed([text])
    expect(lengths(await embedder.embed([text]))).toEqual([10_000])
    expect(fake.asked).toHaveLength(2)
  })

  it('has the id and the dimensions of the other, and closes it', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    expect(embedder).toMatchObject({ id: 'fake', dimensions: 1 })
    await embedder.close()
    expect(fake.closed).toBe(true)
  })
})
