import { EmbeddingError } from './embedding-error.js'

/** Requests that wait for a model. */
export interface RoundRobinQueue {
  /** Texts of all unfinished requests. */
  readonly queued: number
  /** Returns one vector for each text, in order. Rejects with `overloaded` if more than `maxQueued` texts would wait. */
  add(texts: readonly string[]): Promise<Float32Array[]>
  /** Rejects all waiting and all future requests. */
  close(reason: EmbeddingError): void
}

export interface RoundRobinQueueOptions {
  /** Embeds one batch of texts. */
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>
  /** Maximum number of texts of all unfinished requests. */
  readonly maxQueued: number
  /** Texts in one batch. */
  readonly batchSize: number
  /** Batches in progress at the same time; a function if that changes. */
  readonly concurrency: number | (() => number)
}

interface Request {
  readonly texts: readonly string[]
  readonly vectors: Float32Array[]
  /** How many texts have been passed to `embed`. */
  started: number
  /** How many texts have their vector. */
  done: number
  resolve(vectors: Float32Array[]): void
  reject(error: unknown): void
}

/**
 * Splits requests into small batches and serves the requests round-robin: a query that arrives while a thousand
 * documents wait is served next, not last.
 */
export function createRoundRobinQueue(options: RoundRobinQueueOptions): RoundRobinQueue {
  const { embed, maxQueued, batchSize, concurrency } = options
  const limit = typeof concurrency === 'function' ? concurrency : () => concurrency
  const unfinished = new Set<Request>()
  let ready: Request[] = []
  let queued = 0
  let running = 0
  let closed: EmbeddingError | undefined

  function settle(request: Request, complete: () => void): void {
    if (!unfinished.delete(request)) return
    queued -= request.texts.length
    ready = ready.filter((each) => each !== request)
    complete()
  }

  async function runBatch(request: Request): Promise<void> {
    const start = request.started
    const texts = request.texts.slice(start, start + batchSize)
    request.started += texts.length
    if (request.started < request.texts.length) ready.push(request)
    try {
      const vectors = await embed(texts)
      if (vectors.length !== texts.length) {
        throw new EmbeddingError('failed', `the model returned ${vectors.length} vectors for ${texts.length} texts`)
      }
      for (const [position, vector] of vectors.entries()) request.vectors[start + position] = vector
      request.done += vectors.length
      if (request.done === request.texts.length) settle(request, () => request.resolve(request.vectors))
    } catch (error) {
      settle(request, () => request.reject(error))
    }
  }

  function startBatches(): void {
    while (running < limit()) {
      const request = ready.shift()
      if (!request) return
      running += 1
      void runBatch(request).then(() => {
        running -= 1
        startBatches()
      })
    }
  }

  return {
    get queued() {
      return queued
    },
    async add(texts) {
      if (closed) throw closed
      if (texts.length === 0) return []
      if (queued + texts.length > maxQueued) {
        const message = `the embedding queue is full: ${queued} texts are waiting, the limit is ${maxQueued}`
        throw new EmbeddingError('overloaded', message)
      }
      queued += texts.length
      return new Promise((resolve, reject) => {
        const request: Request = { texts, vectors: [], started: 0, done: 0, resolve, reject }
        unfinished.add(request)
        ready.push(request)
        startBatches()
      })
    },
    close(reason) {
      closed ??= reason
      for (const request of [...unfinished]) settle(request, () => request.reject(closed))
    },
  }
}
