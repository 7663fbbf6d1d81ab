import { EmbeddingError } from './embedding-error.js'

/** Texts that wait for a model. */
export interface TextQueue {
  /** One vector a text, in order. Rejects with `overloaded` rather than keep more than `limit` waiting. */
  add(texts: readonly string[]): Promise<Float32Array[]>
  /** Rejects all that wait, and all that come. */
  close(reason: EmbeddingError): void
}

/** What a queue needs, and its bounds. */
export interface TextQueueOptions {
  /** Turns a few texts into vectors. */
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>
  /** Texts that may wait, over all requests. */
  readonly limit: number
  /** Texts in one batch. */
  readonly batch: number
  /** Batches that are under way at a time. */
  readonly lanes: number
}

interface Request {
  readonly texts: readonly string[]
  readonly vectors: Float32Array[]
  /** How many texts have been handed over. */
  taken: number
  /** How many have their vector. */
  done: number
  resolve(vectors: Float32Array[]): void
  reject(error: unknown): void
}

/**
 * Hands over a few texts at a time, and the requests take turns: a query that comes while a thousand documents wait is
 * next, not last.
 */
export function createTextQueue({ embed, limit, batch, lanes }: TextQueueOptions): TextQueue {
  const open = new Set<Request>()
  let turns: Request[] = []
  let waiting = 0
  let underWay = 0
  let closed: EmbeddingError | undefined

  /** Ends a request, well or not. */
  function settle(request: Request, end: () => void): void {
    if (!open.delete(request)) return
    waiting -= request.texts.length
    turns = turns.filter((each) => each !== request)
    end()
  }

  async function run(request: Request): Promise<void> {
    const start = request.taken
    const texts = request.texts.slice(start, start + batch)
    request.taken += texts.length
    if (request.taken < request.texts.length) turns.push(request)
    try {
      const vectors = await embed(texts)
      if (vectors.length !== texts.length) throw new EmbeddingError('failed', 'not one vector for each text')
      for (const [place, vector] of vectors.entries()) request.vectors[start + place] = vector
      request.done += vectors.length
      if (request.done === request.texts.length) settle(request, () => request.resolve(request.vectors))
    } catch (error) {
      settle(request, () => request.reject(error))
    }
  }

  function next(): void {
    while (underWay < lanes) {
      const request = turns.shift()
      if (!request) return
      underWay += 1
      void run(request).then(() => {
        underWay -= 1
        next()
      })
    }
  }

  return {
    async add(texts) {
      if (closed) throw closed
      if (texts.length === 0) return []
      if (waiting + texts.length > limit) {
        throw new EmbeddingError('overloaded', `${waiting} texts are waiting for the model, at most ${limit} may`)
      }
      waiting += texts.length
      return new Promise((resolve, reject) => {
        const request: Request = { texts, vectors: [], taken: 0, done: 0, resolve, reject }
        open.add(request)
        turns.push(request)
        next()
      })
    },
    close(reason) {
      closed ??= reason
      for (const request of [...open]) settle(request, () => request.reject(closed))
    },
  }
}
