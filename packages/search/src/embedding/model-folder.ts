import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EmbeddingError, reasonOf } from './embedding-error.js'
import type { Vocabulary } from './tokenizer.js'

/** The content of manifest.json. */
export interface Manifest {
  /** Must change whenever the weights or the vocabulary do: stored vectors are identified by it. */
  readonly id: string
  readonly dimensions: number
  /** Longer texts are truncated. */
  readonly maxTokens: number
}

/** Input `ids` (int32, [tokens]), output `vector` (float32, [dimensions], not necessarily a unit vector). */
export const modelFile = (folder: string): string => join(folder, 'model.onnx')

/** Reads manifest.json. */
export const readManifest = (folder: string): Promise<Manifest> => readParsed(folder, 'manifest.json', toManifest)

/** Reads vocabulary.json. */
export const readVocabulary = (folder: string): Promise<Vocabulary> =>
  readParsed(folder, 'vocabulary.json', toVocabulary)

async function readParsed<T>(folder: string, name: string, parse: (value: unknown) => T): Promise<T> {
  try {
    return parse(JSON.parse(await readFile(join(folder, name), 'utf8')))
  } catch (error) {
    const message = `cannot read ${join(folder, name)}: ${reasonOf(error)}`
    throw new EmbeddingError('model_unavailable', message, { cause: error })
  }
}

function toManifest(value: unknown): Manifest {
  if (typeof value !== 'object' || value === null) throw new Error('it must be a JSON object')
  const id = 'id' in value ? value.id : undefined
  const dimensions = 'dimensions' in value ? value.dimensions : undefined
  const maxTokens = 'maxTokens' in value ? value.maxTokens : undefined
  if (typeof id !== 'string' || id === '') throw new Error('id must be a non-empty string')
  if (!isCount(dimensions) || !isCount(maxTokens)) throw new Error('dimensions and maxTokens must be positive integers')
  return { id, dimensions, maxTokens }
}

function toVocabulary(value: unknown): Vocabulary {
  if (!Array.isArray(value) || value.length === 0) throw new Error('it must be a non-empty list of pieces')
  return value.map((entry: unknown) => {
    const [piece, score]: unknown[] = Array.isArray(entry) ? entry : []
    if (typeof piece !== 'string' || (typeof score !== 'number' && score !== null)) {
      throw new Error('each piece must be [text, score or null]')
    }
    return [piece, score]
  })
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0
