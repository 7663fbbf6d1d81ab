import { describe, expect, it } from 'vitest'
import { createCachedEmbedder } from './cached-embedder.js'
import type { Embedder } from './embedder.js'

/** A fake embedder that records requests; the vector of a text is its length. */
function createFake() {
  const requests: string[][] = []
  const fake = {
    requests,
    failing: false,
    closed: false,
    id: 'fake',
    dimensions: 1,
    async embed(texts: readonly string[]): Promise<Float32Array[]> {
      requests.push([...texts])
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

describe('createCachedEmbedder', () => {
  it('embeds each text once, and all missing texts in one request', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    expect(lengths(await embedder.embed(['a', 'bb', 'a']))).toEqual([1, 2, 1])
    expect(lengths(await embedder.embed(['ccc', 'bb', 'a', 'dddd']))).toEqual([3, 2, 1, 4])
    expect(lengths(await embedder.embed(['a']))).toEqual([1])
    expect(fake.requests).toEqual([
      ['a', 'bb'],
      ['ccc', 'dddd'],
    ])
  })

  it('shares one request between concurrent callers', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    await Promise.all([embedder.embed(['a']), embedder.embed(['a'])])
    expect(fake.requests).toEqual([['a']])
  })

  it('evicts the least recently used text', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 2)
    await embedder.embed(['a'])
    await embedder.embed(['b'])
    await embedder.embed(['a'])
    await embedder.embed(['c'])
    await embedder.embed(['a'])
    expect(fake.requests).toEqual([['a'], ['b'], ['c']])
    await embedder.embed(['b'])
    expect(fake.requests).toHaveLength(4)
  })

  it('returns more vectors at once than fit into the cache', async () => {
    const embedder = createCachedEmbedder(createFake(), 1)
    expect(lengths(await embedder.embed(['a', 'bb', 'ccc', 'a']))).toEqual([1, 2, 3, 1])
    expect(lengths(await embedder.embed(['bb', 'a']))).toEqual([2, 1])
  })

  it('does not cache failures', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    fake.failing = true
    await expect(embedder.embed(['a'])).rejects.toThrow('down')
    fake.failing = false
    expect(lengths(await embedder.embed(['a']))).toEqual([1])
  })

  it('does not cache long texts', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    const text = 'a'.repeat(10_000)
    await embedder.embed([text])
    expect(lengths(await embedder.embed([text]))).toEqual([10_000])
    expect(fake.requests).toHaveLength(2)
  })

  it('returns the vectors of texts that have all been embedded', async () => {
    const embedder = createCachedEmbedder(createFake(), 10)
    const embedding = embedder.embed(['a', 'bb'])
    expect(embedder.cached(['a'])).toBeUndefined()
    await embedding
    expect(lengths(embedder.cached(['bb', 'a']) ?? [])).toEqual([2, 1])
    expect(embedder.cached(['a', 'ccc'])).toBeUndefined()
  })

  it('passes on id, dimensions and close', async () => {
    const fake = createFake()
    const embedder = createCachedEmbedder(fake, 10)
    expect(embedder).toMatchObject({ id: 'fake', dimensions: 1 })
    await embedder.close()
    expect(fake.closed).toBe(true)
  })
})
