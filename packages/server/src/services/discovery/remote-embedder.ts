import { isObject } from '@switchboard/protocol'
import { type Embedder, EmbeddingError } from '@switchboard/search'

/** An OpenAI-compatible endpoint. Its URL comes from the operator, so the address guard does not apply. */
export interface RemoteEmbedderOptions {
  /** Base URL without `/embeddings`, such as "https://api.example/v1". */
  readonly url: string
  readonly model: string
  readonly key?: string | undefined
  /** Requested length of the vectors, for models that support several. */
  readonly dimensions?: number | undefined
  /** Ends requests that are made before the embedder is ready. */
  readonly signal?: AbortSignal
}

const TIMEOUT_MS = 20_000
/** Texts in one request; endpoints accept more, but a failed request should not cost too much. */
const BATCH = 64
/** The index needs vectors whose length is a multiple of this; padding with zeros changes no angle. */
const STEP = 128

/** Embeds texts by an HTTP endpoint; a first request finds out the length of its vectors. */
export async function createRemoteEmbedder(options: RemoteEmbedderOptions): Promise<Embedder> {
  const { url, model, key, dimensions } = options
  const closed = new AbortController()
  const signals = options.signal ? [closed.signal, options.signal] : [closed.signal]

  const request = async (input: readonly string[]): Promise<Float32Array[]> => {
    let body: unknown
    try {
      const response = await fetch(`${url.replace(/\/+$/, '')}/embeddings`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
        body: JSON.stringify({
          model,
          input,
          encoding_format: 'float',
          ...(dimensions !== undefined && { dimensions }),
        }),
        redirect: 'error',
        signal: AbortSignal.any([...signals, AbortSignal.timeout(TIMEOUT_MS)]),
      })
      if (!response.ok) throw new EmbeddingError('failed', `the embedding endpoint returned status ${response.status}`)
      body = await response.json()
    } catch (error) {
      if (error instanceof EmbeddingError) throw error
      const code = error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'failed'
      throw new EmbeddingError(code, 'the embedding endpoint did not respond', { cause: error })
    }
    return readVectors(body, input.length)
  }

  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = []
    for (let at = 0; at < texts.length; at += BATCH) vectors.push(...(await request(texts.slice(at, at + BATCH))))
    return vectors
  }

  const [probe] = await embed(['translate a text'])
  const length = probe?.length ?? 0
  return {
    id: `${model}/${length}`,
    dimensions: length,
    async embed(texts) {
      const vectors = await embed(texts)
      if (vectors.some((vector) => vector.length !== length))
        throw new EmbeddingError('failed', `the embedding endpoint returned a vector whose length is not ${length}`)
      return vectors
    },
    async close() {
      closed.abort(new EmbeddingError('closed', 'the embedder was closed'))
    },
  }
}

/** Parses `{"data":[{"index":0,"embedding":[…]}]}` into unit vectors in the order of the texts. */
function readVectors(body: unknown, count: number): Float32Array[] {
  const data: unknown[] = isObject(body) && Array.isArray(body.data) ? body.data : []
  const vectors = new Array<Float32Array | undefined>(count)
  data.forEach((item, place) => {
    if (!isObject(item) || !Array.isArray(item.embedding)) return
    vectors[typeof item.index === 'number' ? item.index : place] = toUnit(item.embedding)
  })
  const found = vectors.filter((vector) => vector !== undefined)
  if (found.length !== count)
    throw new EmbeddingError('failed', 'the embedding endpoint did not return one vector for each text')
  return found
}

function toUnit(numbers: readonly unknown[]): Float32Array {
  const vector = new Float32Array(Math.ceil(numbers.length / STEP) * STEP)
  numbers.forEach((number, i) => {
    vector[i] = Number(number)
  })
  const length = Math.hypot(...vector)
  if (!(length > 0 && length < Number.POSITIVE_INFINITY))
    throw new EmbeddingError('failed', 'the embedding endpoint returned a zero or infinite vector')
  return vector.map((number) => number / length)
}
