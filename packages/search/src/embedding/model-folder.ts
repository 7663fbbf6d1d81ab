import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EmbeddingError, reasonOf } from './embedding-error.js'
import type { Vocabulary } from './tokenizer.js'

/** What manifest.json says of the model in a folder. */
export interface Manifest {
  /** Another one for other weights or another vocabulary: vectors are kept with it. */
  readonly id: string
  readonly dimensions: number
  /** What a text is cut to. */
  readonly maxTokens: number
}

/** Takes `ids` (int32, [tokens]) and gives `vector` (float32, [dimensions], of any length). */
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
    throw new EmbeddingError('model_unavailable', `no model in ${folder}: ${name}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

function toManifest(value: unknown): Manifest {
  if (typeof value !== 'object' || value === null) throw new Error('not an object')
  const id = 'id' in value ? value.id : undefined
  const dimensions = 'dimensions' in value ? value.dimensions : undefined
  const maxTokens = 'maxTokens' in value ? value.maxTokens : undefined
  if (typeof id !== 'string' || id === '') throw new Error('id must be a text')
  if (!isCount(dimensions) || !isCount(maxTokens)) throw new Error('dimensions and maxTokens must be whole numbers')
  return { id, dimensions, maxTokens }
}

function toVocabulary(value: unknown): Vocabulary {
  if (!Array.isArray(value) || value.length === 0) throw new Error('not a list of pieces')
  return value.map((entry: unknown) => {
    const [piece, score]: unknown[] = Array.isArray(entry) ? entry : []
    if (typeof piece !== 'string' || (typeof score !== 'number' && score !== null)) {
      throw new Error('a piece is [text, score or null]')
    }
    return [piece, score]
  })
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0
