// The layers of the encoder, in fp32 or int8.
import { quantizeColumns, quantizeRows } from '../onnx/quantize.mjs'

const NORM_EPSILON = 1e-6
const HEADS = 4
const FLOAT32 = 1

/** @typedef {import('../onnx/quantize.mjs').Tensor} Tensor */
/** @typedef {'int8' | 'fp32'} Precision */

/**
 * Layers over values of shape [tokens, width].
 * @param {ReturnType<typeof import('../onnx/graph.mjs').createGraph>} graph
 * @param {Precision} precision of the weights; activations are fp32
 */
export function createLayers(graph, precision) {
  const floats = ({ shape, data }) => graph.constant('float32', shape, data)
  const integers = (...values) => graph.constant('int64', [values.length], BigInt64Array.from(values, BigInt))

  /** An embedding lookup: one row of the table for each index. */
  function lookUp(table, indices) {
    if (precision === 'fp32') return graph.add('Gather', [floats(table), indices])
    const { quantized, scales } = quantizeRows(table)
    const rows = graph.add('Gather', [graph.constant('int8', table.shape, quantized), indices])
    const rowScales = graph.add('Gather', [graph.constant('float32', [scales.length, 1], scales), indices])
    return graph.add('Mul', [toFloat(rows), rowScales])
  }

  /** x · kernel + bias, always in fp32. */
  const denseInFloats = (x, kernel, bias) => graph.add('Add', [graph.add('MatMul', [x, floats(kernel)]), floats(bias)])

  /** x · kernel + bias. In int8, x is quantised dynamically; onnxruntime fuses these nodes into one. */
  function dense(x, kernel, bias) {
    const matrix = { shape: kernel.shape.slice(-2), data: kernel.data } // some are stored as 1 × 1 convolutions
    if (precision === 'fp32') return denseInFloats(x, matrix, bias)
    const { quantized, scales } = quantizeColumns(matrix)
    const [bytes, scale, zero] = quantizeInput(x)
    const product = graph.add('MatMulInteger', [bytes, graph.constant('int8', matrix.shape, quantized), zero])
    const productScale = graph.add('Mul', [scale, graph.constant('float32', [scales.length], scales)])
    return graph.add('Add', [graph.add('Mul', [toFloat(product), productScale]), floats(bias)])
  }

  const toFloat = (x) => graph.add('Cast', [x], { to: FLOAT32 })
  const quantizeInput = (x) => graph.addSeveral(3, 'DynamicQuantizeLinear', [x])

  const normalize = (x, scale, bias) =>
    graph.add('LayerNormalization', [x, floats(scale), floats(bias)], { axis: -1, epsilon: { float: NORM_EPSILON } })

  /** Multi-head scaled dot-product attention, without the input and output projections. */
  function attend(queriesKeysValues, width) {
    const headWidth = width / HEADS
    const parts = graph.addSeveral(3, 'Split', [queriesKeysValues, integers(width, width, width)], { axis: -1 })
    const heads = parts.map((part) => graph.add('Reshape', [part, integers(-1, HEADS, headWidth)]))
    const queries = graph.add('Transpose', [heads[0]], { perm: [1, 0, 2] })
    const keys = graph.add('Transpose', [heads[1]], { perm: [1, 2, 0] })
    const values = graph.add('Transpose', [heads[2]], { perm: [1, 0, 2] })
    const scale = floats({ shape: [], data: Float32Array.of(1 / Math.sqrt(headWidth)) })
    const scores = graph.add('MatMul', [graph.add('Mul', [queries, scale]), keys])
    const attended = graph.add('MatMul', [graph.add('Softmax', [scores], { axis: -1 }), values])
    return graph.add('Reshape', [graph.add('Transpose', [attended], { perm: [1, 0, 2] }), integers(-1, width)])
  }

  return { lookUp, dense, denseInFloats, normalize, attend, floats, integers }
}
