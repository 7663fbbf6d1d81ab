import { isObject } from '@switchboard/protocol'
import { type Embedder, EmbeddingError } from '@switchboard/search'

/** An OpenAI-compatible endpoint. The operator wrote its address, so it is called as written (CONTRACT). */
export interface RemoteEmbedderOptions {
  /** Ends before `/embeddings`: "https://api.example/v1". */
  readonly url: string
  readonly model: string
  readonly key?: string | undefined
  /** Asked for where the model can give vectors of several lengths. */
  readonly dimensions?: number | undefined
  readonly fetch?: typeof fetch
}

const TIMEOUT_MS = 20_000
/** Texts in one request; endpoints take more, but one that fails should not cost too much. */
const BATCH = 64
/** The index takes vectors whose length is a multiple of this; zeros change no angle. */
const STEP = 128

/** Asks an endpoint once, to learn how long its vectors are, and then for each text. */
export async function createRemoteEmbedder({
  url,
  model,
  key,
  dimensions,
  fetch: send = fetch,
}: RemoteEmbedderOptions): Promise<Embedder> {
  const ended = new AbortController()

  const request = async (input: readonly string[]): Promise<Float32Array[]> => {
    let body: unknown
    try {
      const response = await send(`${url.replace(/\/+$/, '')}/embeddings`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
        body: JSON.stringify({
          model,
          input,
          encoding_format: 'float',
          ...(dimensions !== undefined && { dimensions }),
        }),
        redirect: 'error',
        signal: AbortSignal.any([ended.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      })
      if (!response.ok) throw new EmbeddingError('failed', `the embedder answered ${response.status}`)
      body = await response.json()
    } catch (error) {
      if (error instanceof EmbeddingError) throw error
      throw new EmbeddingError('failed', 'the embedder did not answer', { cause: error })
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
        throw new EmbeddingError('failed', `the embedder gave vectors of another length than ${length}`)
      return vectors
    },
    async close() {
      ended.abort(new EmbeddingError('closed', 'the embedder was closed'))
    },
  }
}

/** Reads `{"data":[{"index":0,"embedding":[…]}]}`; vectors come back in the order of the texts, with length 1. */
function readVectors(body: unknown, count: number): Float32Array[] {
  const data: unknown[] = isObject(body) && Array.isArray(body.data) ? body.data : []
  const vectors = new Array<Float32Array | undefined>(count)
  data.forEach((item, place) => {
    if (!isObject(item) || !Array.isArray(item.embedding)) return
    vectors[typeof item.index === 'number' ? item.index : place] = toUnit(item.embedding)
  })
  const found = vectors.filter((vector) => vector !== undefined)
  if (found.length !== count) throw new EmbeddingError('failed', 'the embedder gave not one vector for each text')
  return found
}

function toUnit(numbers: readonly unknown[]): Float32Array {
  const vector = new Float32Array(Math.ceil(numbers.length / STEP) * STEP)
  numbers.forEach((number, i) => {
    vector[i] = Number(number)
  })
  const length = Math.hypot(...vector)
  if (!(length > 0 && length < Number.POSITIVE_INFINITY))
    throw new EmbeddingError('failed', 'the embedder gave a vector that has no direction')
  return vector.map((number) => number / length)
}
