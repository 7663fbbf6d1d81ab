import { type CachedEmbedder, createCachedEmbedder, type Embedder } from '@switchboard/search'
import { beforeEach, describe, expect, it } from 'vitest'
import { createQueryEmbedder, type QueryEmbedder } from './query-embedder.js'

const VECTOR = new Float32Array(128)
const TIMEOUT_MS = 30

/** Requests that the model has not answered. */
let waiting: { texts: readonly string[]; succeed(): void; fail(): void }[]
let errors: unknown[]
let model: () => Promise<CachedEmbedder>
let queries: QueryEmbedder

beforeEach(() => {
  waiting = []
  errors = []
  const embedder: Embedder = {
    id: 'test',
    dimensions: 128,
    embed: (texts) =>
      new Promise((resolve, reject) => {
        waiting.push({
          texts,
          succeed: () => resolve(texts.map(() => VECTOR)),
          fail: () => reject(new Error('out of memory')),
        })
      }),
    close: async () => {},
  }
  const cached = createCachedEmbedder(embedder, 10)
  model = async () => cached
  queries = createQueryEmbedder({
    model: () => model(),
    timeoutMs: TIMEOUT_MS,
    onError: (error) => errors.push(error),
  })
})

/** Sends a query that the model answers. */
const answered = async (text: string) => {
  const result = queries.embed([text])
  await expect.poll(() => waiting.length).toBe(1)
  waiting.shift()?.succeed()
  return result
}

describe('createQueryEmbedder', () => {
  it('returns the vectors of a model that responds', async () => {
    expect(await answered('a')).toEqual([VECTOR])
    expect(errors).toEqual([])
  })

  it('gives up waiting, also for a model that is still starting', async () => {
    expect(await queries.embed(['a'])).toBeUndefined()
    expect(errors).toMatchObject([{ code: 'timeout' }])
    model = () => new Promise(() => {})
    const cold = createQueryEmbedder({ model, timeoutMs: TIMEOUT_MS, onError: () => {} })
    expect(await cold.embed(['a'])).toBeUndefined()
  })

  it('sends only one query at a time to a model that hangs, and the others do not wait', async () => {
    await queries.embed(['a'])
    for (const text of ['b', 'c', 'd']) expect(await queries.embed([text])).toBeUndefined()
    expect(waiting.map(({ texts }) => texts)).toEqual([['a']])
  })

  it('sends queries again when the model has answered the one it has', async () => {
    await queries.embed(['a'])
    waiting.shift()?.succeed()
    await expect.poll(() => queries.embed(['a'])).toEqual([VECTOR])
    expect(await answered('b')).toEqual([VECTOR])
  })

  it('tries another query when the one it has failed', async () => {
    await queries.embed(['a'])
    waiting.shift()?.fail()
    await expect.poll(() => errors.length).toBe(2)
    const [probe, other] = [queries.embed(['b']), queries.embed(['c'])]
    expect(await other).toBeUndefined()
    expect(waiting.map(({ texts }) => texts)).toEqual([['b']])
    waiting.shift()?.succeed()
    expect(await probe).toEqual([VECTOR])
  })

  it('sends queries again when the model has responded to something else', async () => {
    await queries.embed(['a'])
    waiting = []
    queries.responded()
    expect(await answered('b')).toEqual([VECTOR])
  })

  it('returns cached vectors even if the model hangs', async () => {
    await answered('a')
    await queries.embed(['b'])
    expect(await queries.embed(['a'])).toEqual([VECTOR])
  })
})
