/// <reference path="./onnxruntime-node.d.ts" />
import type { InferenceSession, SessionOptions } from 'onnxruntime-node'
import { EmbeddingError, reasonOf } from './embedding-error.js'
import { modelFile, readManifest, readVocabulary } from './model-folder.js'
import { createTokenizer } from './tokenizer.js'

/** A model in this process; `encode` blocks the event loop while it runs. */
export interface Encoder {
  encode(text: string): Promise<Float32Array>
}

/** Input for a text without tokens, because the model cannot take an empty input: the unknown piece. */
const EMPTY_TEXT = [0]

const SESSION_OPTIONS: SessionOptions = {
  // No threads of its own: they would compete with searches for the cores.
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3, // errors only; warnings would clutter the operator's terminal
}

/** Loads the model in a folder; rejects with `model_unavailable`. */
export async function loadEncoder(folder: string): Promise<Encoder> {
  const { dimensions, maxTokens } = await readManifest(folder)
  const tokenizer = createTokenizer(await readVocabulary(folder), maxTokens)
  const { InferenceSession, Tensor } = await loadRuntime()
  let session: InferenceSession

  async function encode(text: string): Promise<Float32Array> {
    const tokens = tokenizer.encode(text)
    const ids = Int32Array.from(tokens.length > 0 ? tokens : EMPTY_TEXT)
    const { vector } = await session.run({ ids: new Tensor('int32', ids, [ids.length]) })
    if (!(vector?.data instanceof Float32Array) || vector.data.length !== dimensions) {
      throw new EmbeddingError('failed', `the model's output "vector" is not ${dimensions} floats`)
    }
    return toUnitLength(vector.data)
  }

  try {
    session = await InferenceSession.create(modelFile(folder), SESSION_OPTIONS)
    await encode('') // warms up the session, and fails if inputs or outputs do not fit
  } catch (error) {
    const message = `cannot run the model in ${folder}: ${reasonOf(error)}`
    throw new EmbeddingError('model_unavailable', message, { cause: error })
  }
  return { encode }
}

/** Imported lazily: it is a native library that is not available for every platform. */
async function loadRuntime(): Promise<typeof import('onnxruntime-node')> {
  try {
    return await import('onnxruntime-node')
  } catch (error) {
    const message = `cannot load onnxruntime-node: ${reasonOf(error)}`
    throw new EmbeddingError('model_unavailable', message, { cause: error })
  }
}

function toUnitLength(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  if (!(squares > 0 && squares < Infinity))
    throw new EmbeddingError('failed', 'the model returned a vector of length zero or infinity')
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}
