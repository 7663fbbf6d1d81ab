/// <reference path="./onnxruntime-node.d.ts" />
import type { InferenceSession, SessionOptions } from 'onnxruntime-node'
import { EmbeddingError, reasonOf } from './embedding-error.js'
import { modelFile, readManifest, readVocabulary } from './model-folder.js'
import { createTokenizer } from './tokenizer.js'

/** Runs a model here, and blocks whoever calls it meanwhile. */
export interface Encoder {
  encode(text: string): Promise<Float32Array>
}

/** What a text without a single piece stands for, since a model cannot take nothing: the unknown piece. */
const NOTHING = [0]

const SESSION_OPTIONS: SessionOptions = {
  // Not a thread more than the one it is called from: they would take the cores from those who search.
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3, // errors only: warnings would go to the operator's terminal
}

/** Loads the model in a folder; rejects with `model_unavailable`. */
export async function openEncoder(folder: string): Promise<Encoder> {
  const { dimensions, maxTokens } = await readManifest(folder)
  const tokenizer = createTokenizer(await readVocabulary(folder), maxTokens)
  const { InferenceSession, Tensor } = await loadRuntime()
  let session: InferenceSession

  async function encode(text: string): Promise<Float32Array> {
    const tokens = tokenizer.encode(text)
    const ids = Int32Array.from(tokens.length > 0 ? tokens : NOTHING)
    const { vector } = await session.run({ ids: new Tensor('int32', ids, [ids.length]) })
    if (!(vector?.data instanceof Float32Array) || vector.data.length !== dimensions) {
      throw new EmbeddingError('failed', `its output "vector" is not ${dimensions} floats`)
    }
    return toUnitLength(vector.data)
  }

  try {
    session = await InferenceSession.create(modelFile(folder), SESSION_OPTIONS)
    await encode('') // the first run takes longer than others, and shows whether the model is of this kind
  } catch (error) {
    const message = `the model in ${folder} cannot be run: ${reasonOf(error)}`
    throw new EmbeddingError('model_unavailable', message, { cause: error })
  }
  return { encode }
}

/** The library is native: there are systems that it was not built for. */
async function loadRuntime(): Promise<typeof import('onnxruntime-node')> {
  try {
    return await import('onnxruntime-node')
  } catch (error) {
    const message = `onnxruntime-node cannot be loaded: ${reasonOf(error)}`
    throw new EmbeddingError('model_unavailable', message, { cause: error })
  }
}

function toUnitLength(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  if (!(squares > 0 && squares < Infinity)) throw new EmbeddingError('failed', 'its vector has no direction')
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}
