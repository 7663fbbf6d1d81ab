import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BEYOND_ASCII, chunksOf, IS_ASCII_WORD, wordsOfChunk } from '../words/tokenize.js'
import { EmbeddingError, reasonOf } from './embedding-error.js'

/** Made by scripts/train-static; the relative path is the same from dist/embedding and src/embedding. */
const BUILT_IN_FOLDER = fileURLToPath(new URL('../../static-model', import.meta.url))
/** Further words are ignored: the first ones say what a text is about. */
const MAX_WORDS = 128

/**
 * Encodes a text as the weighted sum of one vector for each word: far less precise than a model that reads sentences, but
 * it takes microseconds and needs no other process.
 */
export interface StaticEncoder {
  readonly id: string
  readonly dimensions: number
  /** The words that it knows, in lower case: English ones by frequency, then those of the training texts. */
  readonly words: readonly string[]
  /** A vector for comparison by cosine; zero, which is similar to nothing, if no word is known. */
  encode(text: string): Float32Array
}

let builtIn: StaticEncoder | undefined

/** The encoder that comes with Switchboard: English, 128 dimensions. It is loaded once and takes about 10 MB. */
export function builtInStaticEncoder(): StaticEncoder {
  builtIn ??= loadStaticEncoder(BUILT_IN_FOLDER)
  return builtIn
}

/** Reads the encoder that scripts/train-static/train.py wrote to a folder. */
export function loadStaticEncoder(folder: string): StaticEncoder {
  try {
    const { id, dimensions } = readManifest(join(folder, 'manifest.json'))
    const words = readFileSync(join(folder, 'words.txt'), 'utf8').trimEnd().split('\n')
    return createStaticEncoder(id, words, readVectors(join(folder, 'vectors.bin'), words.length, dimensions))
  } catch (error) {
    const message = `cannot read the static embedding in ${folder}: ${reasonOf(error)}`
    throw new EmbeddingError('model_unavailable', message, { cause: error })
  }
}

/** The vector of word i is `scales[i]` times the codes from `i * dimensions` on. */
interface WordVectors {
  readonly dimensions: number
  readonly codes: Int8Array
  readonly scales: Float32Array
}

function createStaticEncoder(id: string, words: readonly string[], vectors: WordVectors): StaticEncoder {
  const { dimensions, codes, scales } = vectors
  const rowOf = new Map(words.map((word, row) => [word, row]))

  const add = (sum: Float32Array, word: string): boolean => {
    const row = rowOf.get(word)
    if (row === undefined) return false
    const [scale, from] = [scales[row] ?? 0, row * dimensions]
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + scale * (codes[from + i] ?? 0)
    return true
  }

  return {
    id,
    dimensions,
    words,
    encode(text) {
      const sum = new Float32Array(dimensions)
      let known = 0
      for (const chunk of BEYOND_ASCII.test(text) ? chunksOf(text) : asciiChunks(text)) {
        for (const word of wordsOfChunk(chunk)) if (add(sum, word)) known++
        if (known >= MAX_WORDS) break
      }
      return sum
    },
  }
}

/** Like `chunksOf`, without the cost of normalisation and regular expressions. */
function* asciiChunks(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) {
    const from = at
    while (IS_ASCII_WORD[text.charCodeAt(at)] === 1) at++
    if (at > from) yield text.slice(from, at)
  }
}

function readManifest(file: string): { id: string; dimensions: number } {
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (typeof manifest !== 'object' || manifest === null) throw new Error('manifest.json must be a JSON object')
  const id = 'id' in manifest ? manifest.id : undefined
  const dimensions = 'dimensions' in manifest ? manifest.dimensions : undefined
  if (typeof id !== 'string' || typeof dimensions !== 'number') {
    throw new Error('manifest.json must have the members id and dimensions')
  }
  return { id, dimensions }
}

function readVectors(file: string, words: number, dimensions: number): WordVectors {
  const { buffer, byteOffset, byteLength } = readFileSync(file)
  if (byteLength !== words * (dimensions + 4)) throw new Error('vectors.bin does not fit words.txt')
  const scales = new Float32Array(buffer.slice(byteOffset + words * dimensions, byteOffset + byteLength))
  return { dimensions, codes: new Int8Array(buffer, byteOffset, words * dimensions), scales }
}
