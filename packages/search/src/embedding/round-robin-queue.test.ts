import { describe, expect, it } from 'vitest'
import { EmbeddingError } from './embedding-error.js'
import { createTextQueue } from './round-robin-queue.js'

/** A model that gives the length of a text, and waits until it is told to go on. */
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
    /** Lets batches end until there are no more. */
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

describe('the queue of texts', () => {
  it('gives one vector a text, in order, in small batches', async () => {
    const model = createModel()
    const queue = createTextQueue({ embed: model.embed, limit: 100, batch: 2, lanes: 2 })
    const answer = queue.add(['a', 'bb', 'ccc', 'dddd', 'eeeee'])
    await settled()
    expect(model.batches).toEqual([
      ['a', 'bb'],
      ['ccc', 'dddd'],
    ])
    await model.finish()
    expect(lengths(await answer)).toEqual([1, 2, 3, 4, 5])
  })

  it('keeps the order when batches end out of order', async () => {
    const model = createModel()
    const queue = createTextQueue({ embed: model.embed, limit: 100, batch: 1, lanes: 2 })
    const answer = queue.add(['a', 'bb'])
    model.waiting.reverse()
    await model.finish()
    expect(lengths(await answer)).toEqual([1, 2])
  })

  it('lets requests take turns, so that a query does not wait for all documents', async () => {
    const model = createModel()
    const queue = createTextQueue({ embed: model.embed, limit: 100, batch: 1, lanes: 1 })
    const documents = queue.add(['1', '2', '3', '4'])
    const query = queue.add(['query'])
    await model.finish()
    expect(model.batches.flat()).toEqual(['1', '2', 'query', '3', '4'])
    await Promise.all([documents, query])
  })

  it('rejects what it has no room for, and takes more when there is room again', async () => {
    const model = createModel()
    const queue = createTextQueue({ embed: model.embed, limit: 3, batch: 1, lanes: 1 })
    const first = queue.add(['a', 'b'])
    await expect(queue.add(['c', 'd'])).rejects.toMatchObject({ code: 'overloaded' })
    await model.finish()
    await first
    const second = queue.add(['c', 'd'])
    await model.finish()
    expect(await second).toHaveLength(2)
  })

  it('rejects a request of which a batch failed, and goes on with the others', async () => {
    const model = createModel()
    const queue = createTextQueue({ embed: model.embed, limit: 4, batch: 1, lanes: 1 })
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

  it('rejects what waits and what comes when it is closed', async () => {
    const model = createModel()
    const queue = createTextQueue({ embed: model.embed, limit: 10, batch: 1, lanes: 1 })
    const waiting = queue.add(['a', 'b'])
    queue.close(new EmbeddingError('closed', 'closed'))
    await expect(waiting).rejects.toMatchObject({ code: 'closed' })
    await expect(queue.add(['c'])).rejects.toMatchObject({ code: 'closed' })
    await model.finish()
    expect(model.batches).toEqual([['a']])
  })

  it('gives nothing for nothing', async () => {
    const queue = createTextQueue({ embed: createModel().embed, limit: 10, batch: 1, lanes: 1 })
    expect(await queue.add([])).toEqual([])
  })
})
