import { type CachedEmbedder, EmbeddingError } from '@switchboard/search'

/** Embeds queries in time for their response. */
export interface QueryEmbedder {
  /** The vectors, or undefined if the model does not respond in time. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[] | undefined>
  /** Called when the model has responded to other requests. */
  responded(): void
}

export interface QueryEmbedderOptions {
  /** The model; a query does not wait for it to start either. */
  readonly model: () => Promise<CachedEmbedder>
  readonly timeoutMs: number
  readonly onError: (error: unknown) => void
}

/**
 * A circuit breaker: once the model has failed or a query has waited in vain, only one query at a time is sent to it.
 * The others do not wait, until a response shows that the model is back.
 */
export function createQueryEmbedder({ model, timeoutMs, onError }: QueryEmbedderOptions): QueryEmbedder {
  let isOpen = false
  /** The unanswered request that will show whether the model is back. */
  let probe: Promise<unknown> | undefined
  let opened: CachedEmbedder | undefined

  const open = (error: unknown): void => {
    isOpen = true
    onError(error)
  }
  const close = (): void => {
    isOpen = false
    probe = undefined
  }

  const request = async (texts: readonly string[]): Promise<Float32Array[]> => {
    opened = await model()
    return opened.embed(texts)
  }

  return {
    async embed(texts) {
      const known = opened?.cached(texts)
      if (known) return known
      if (isOpen && probe) return undefined
      const requested = request(texts)
      if (isOpen) probe = requested
      const settled = requested.then(
        (vectors) => {
          close()
          return vectors
        },
        (error: unknown) => {
          if (probe === requested) probe = undefined
          open(error)
          return undefined
        },
      )
      let isSettled = false
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<undefined>((resolve) => {
        const giveUp = (): void => {
          if (isSettled) return
          probe ??= requested
          open(new EmbeddingError('timeout', `the model did not respond within ${timeoutMs} ms`))
          resolve(undefined)
        }
        // If this process was busy, the response may have arrived but not been read yet: setImmediate runs after that.
        timer = setTimeout(() => setImmediate(giveUp), timeoutMs)
      })
      return Promise.race([settled, late]).finally(() => {
        isSettled = true
        clearTimeout(timer)
      })
    },
    responded: close,
  }
}
