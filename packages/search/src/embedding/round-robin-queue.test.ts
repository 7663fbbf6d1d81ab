import { describe, expect, it } from 'vitest'
import { EmbeddingError } from './embedding-error.js'
import { createRoundRobinQueue } from './round-robin-queue.js'

/** A fake model: the vector of a text is its length. Batches wait until `finish`. */
function createModel() {
  const batches: (readonly string[])[] = []
  const waiting: { resolve(): void; reject(error: Error): void }[] = []
  return {
    batches,
    waiting,
    async embed(texts: readonly string[]): Promise<Float32Array[]> {
      batches.push(texts)
      await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }))
      return texts.map((text) => Float32Array.of(text.length))
    },
    /** Completes batches until none is waiting. */
    async finish(): Promise<void> {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        next.resolve()
        await settled()
      }
    },
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const lengths = (vectors: Float32Array[]): number[] => vectors.map((vector) => vector[0] ?? Number.NaN)

describe('RoundRobinQueue', () => {
  it('returns one vector for each text, in order, and embeds in small batches', async () => {
    const model = createModel()
    const queue = createRoundRobinQueue({ embed: model.embed, maxQueued: 100, batchSize: 2, concurrency: 2 })
    const answer = queue.add(['a', 'bb', 'ccc', 'dddd', 'eeeee'])
    await settled()
    expect(model.batches).toEqual([
      ['a', 'bb'],
      ['ccc', 'dddd'],
    ])
    await model.finish()
    expect(lengths(await answer)).toEqual([1, 2, 3, 4, 5])
  })

  it('keeps the order when batches complete out of order', async () => {
    const model = createModel()
    const queue = createRoundRobinQueue({ embed: model.embed, maxQueued: 100, batchSize: 1, concurrency: 2 })
    const answer = queue.add(['a', 'bb'])
    model.waiting.reverse()
    await model.finish()
    expect(lengths(await answer)).toEqual([1, 2])
  })

  it('serves requests round-robin, so that a query does not wait for all documents', async () => {
    const model = createModel()
    const queue = createRoundRobinQueue({ embed: model.embed, maxQueued: 100, batchSize: 1, concurrency: 1 })
    const documents = queue.add(['1', '2', '3', '4'])
    const query = queue.add(['query'])
    await model.finish()
    expect(model.batches.flat()).toEqual(['1', '2', 'query', '3', '4'])
    await Promise.all([documents, query])
  })

  it('rejects requests while it is full and accepts them again later', async () => {
    const model = createModel()
    const queue = createRoundRobinQueue({ embed: model.embed, maxQueued: 3, batchSize: 1, concurrency: 1 })
    const first = queue.add(['a', 'b'])
    await expect(queue.add(['c', 'd'])).rejects.toMatchObject({ code: 'overloaded' })
    await model.finish()
    await first
    const second = queue.add(['c', 'd'])
    await model.finish()
    expect(await second).toHaveLength(2)
  })

  it('rejects a request if one of its batches fails, and serves the others', async () => {
    const model = createModel()
    const queue = createRoundRobinQueue({ embed: model.embed, maxQueued: 4, batchSize: 1, concurrency: 1 })
    const failing = queue.add(['a', 'b', 'c'])
    const other = queue.add(['d'])
    model.waiting.shift()?.reject(new EmbeddingError('failed', 'it stopped'))
    await expect(failing).rejects.toMatchObject({ code: 'failed' })
    await model.finish()
    expect(model.batches.flat()).toEqual(['a', 'd'])
    await other
    const room = queue.add(['e', 'f', 'g', 'h'])
    await model.finish()
    expect(await room).toHaveLength(4)
  })

  it('rejects waiting and new requests once it is closed', async () => {
    const model = createModel()
    const queue = createRoundRobinQueue({ embed: model.embed, maxQueued: 10, batchSize: 1, concurrency: 1 })
    const waiting = queue.add(['a', 'b'])
    queue.close(new EmbeddingError('closed', 'closed'))
    await expect(waiting).rejects.toMatchObject({ code: 'closed' })
    await expect(queue.add(['c'])).rejects.toMatchObject({ code: 'closed' })
    await model.finish()
    expect(model.batches).toEqual([['a']])
  })

  it('returns an empty list for an empty list', async () => {
    const queue = createRoundRobinQueue({ embed: createModel().embed, maxQueued: 10, batchSize: 1, concurrency: 1 })
    expect(await queue.add([])).toEqual([])
  })
})
