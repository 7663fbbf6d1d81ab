// The Universal Sentence Encoder lite (https://arxiv.org/abs/1803.11175) as an ONNX graph: token and position
// embeddings, two transformer layers, the mean over the tokens, one dense layer.
import { createGraph } from '../onnx/graph.mjs'
import { createLayers } from './layers.mjs'

export const DIMENSIONS = 512
export const MAX_TOKENS = 128

/**
 * @param {ReturnType<typeof import('./read-weights.mjs').readWeights>} weights
 * @param {import('./layers.mjs').Precision} precision
 * @returns {Buffer} an ONNX file: `ids` (int32, [tokens]) in, `vector` (float32, [512], not necessarily a unit vector) out
 */
export function buildEncoder(weights, precision) {
  const graph = createGraph('universal-sentence-encoder-lite')
  const { lookUp, dense, denseInFloats, normalize, attend, floats, integers } = createLayers(graph, precision)

  const denseNamed = (x, ...name) => dense(x, weights(...name, '/kernel'), weights(...name, '/bias'))
  const normalizeNamed = (x, name) =>
    normalize(x, weights(`${name}/layer_norm/layer_norm_scale`), weights(`${name}/layer_norm/layer_norm_bias`))

  /** The first half of a transformer layer: self-attention. */
  function attention(x, layer, width) {
    const queriesKeysValues = denseNamed(
      normalizeNamed(x, `${layer}/TransformerLayer/layer_prepostprocess`),
      `${layer}/`,
      'qkv_transform_single',
    )
    return denseNamed(attend(queriesKeysValues, width), `${layer}/`, 'output_transform_single')
  }

  /** The second half of a transformer layer: a feed-forward network for each token. */
  function feedForward(x, layer) {
    const name = `${layer}/TransformerLayer/FFN`
    const half = (input, part) => dense(input, weights(`${name}/${part}/Tensordot`), weights(`${name}/${part}/bias`))
    const hidden = graph.add('Relu', [half(normalizeNamed(x, `${name}/layer_prepostprocess`), 'conv1')])
    return half(hidden, 'conv2')
  }

  const sum = (a, b) => graph.add('Add', [a, b])

  const ids = graph.input('ids', 'int32', ['tokens'])
  const positions = floats(positionTable(weights('AddTimingSignal/TimingSignal').data))
  const usedPositions = graph.add('Slice', [positions, integers(0), graph.add('Shape', [ids])])
  const tokens = sum(lookUp(doubled(weights('Embeddings_en')), ids), usedPositions)

  // The first layer widens from 256 to 512 dimensions, so its residual connection needs a projection.
  const widened = denseNamed(tokens, 'Layer_0/TransformerLayer/dense')
  const first = sum(attention(tokens, 'Layer_0', 256), widened)
  const second = sum(first, feedForward(first, 'Layer_0'))
  const third = sum(second, attention(second, 'Layer_1', 512))
  const fourth = sum(third, feedForward(third, 'Layer_1'))

  const mean = graph.add('ReduceMean', [fourth], { axes: [0], keepdims: 1 })
  const last = denseInFloats(mean, weights('tanh_layer_0/weights'), weights('tanh_layer_0/bias'))
  const vector = graph.add('Reshape', [graph.add('Tanh', [last]), integers(DIMENSIONS)])
  graph.output(vector, 'vector', 'float32', [DIMENSIONS])
  return graph.toModel('switchboard')
}

/** The original adds the token embeddings a second time after the position embeddings. */
const doubled = ({ shape, data }) => ({ shape, data: data.map((value) => 2 * value) })

/** Sinusoidal position embeddings: for each position the sines, then the cosines. */
function positionTable(frequencies) {
  const width = 2 * frequencies.length
  const data = new Float32Array(MAX_TOKENS * width)
  for (let position = 0; position < MAX_TOKENS; position++) {
    data.set(
      frequencies.map((frequency) => Math.sin(position * frequency)),
      position * width,
    )
    data.set(
      frequencies.map((frequency) => Math.cos(position * frequency)),
      position * width + frequencies.length,
    )
  }
  return { shape: [MAX_TOKENS, width], data }
}
