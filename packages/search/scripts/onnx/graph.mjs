// Builds an ONNX graph node by node. The field numbers are from https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
import { field, float, integer, message } from './protobuf.mjs'

const IR_VERSION = 8
/** The first operator set with LayerNormalization. */
const OPERATOR_SET = 17

/** Numbers of TensorProto.DataType. */
export const DATA_TYPES = Object.freeze({ float32: 1, int8: 3, int32: 6, int64: 7 })

const ATTRIBUTE = Object.freeze({ float: 1, integer: 2, integers: 7 })

/** @typedef {keyof typeof DATA_TYPES} DataType */
/** @typedef {Float32Array | Int8Array | Int32Array | BigInt64Array} Data */
/** @typedef {number | number[] | { float: number }} Attribute a plain number is an integer; ONNX distinguishes the two */

/** @returns a graph builder; values are identified by name. */
export function createGraph(name) {
  const nodes = []
  const constants = []
  const inputs = []
  const outputs = []
  let values = 0
  const newName = (prefix) => `${prefix}_${values++}`

  return {
    /** @param {string} name @param {DataType} type @param {(number | string)[]} shape a name is a dynamic size */
    input(name, type, shape) {
      inputs.push(valueInfo(name, type, shape))
      return name
    },

    /** @param {string} value @param {string} name @param {DataType} type @param {(number | string)[]} shape */
    output(value, name, type, shape) {
      nodes.push(node('Identity', [value], [name]))
      outputs.push(valueInfo(name, type, shape))
    },

    /** @param {DataType} type @param {number[]} shape @param {Data} data */
    constant(type, shape, data) {
      const name = newName('constant')
      constants.push(tensor(name, type, shape, data))
      return name
    },

    /**
     * Adds an operation and returns its result.
     * @param {string} operator @param {string[]} operands @param {Record<string, Attribute>} [attributes]
     */
    add(operator, operands, attributes) {
      const result = newName(operator)
      nodes.push(node(operator, operands, [result], attributes))
      return result
    },

    /** Adds an operation with several results. */
    addSeveral(count, operator, operands, attributes) {
      const results = Array.from({ length: count }, () => newName(operator))
      nodes.push(node(operator, operands, results, attributes))
      return results
    },

    /** Serialises the ONNX model. @param {string} producer */
    toModel(producer) {
      const graph = message(
        ...nodes.map((each) => field(1, each)),
        field(2, name),
        ...constants.map((each) => field(5, each)),
        ...inputs.map((each) => field(11, each)),
        ...outputs.map((each) => field(12, each)),
      )
      const operatorSet = message(field(1, ''), integer(2, OPERATOR_SET))
      return message(integer(1, IR_VERSION), field(2, producer), field(7, graph), field(8, operatorSet))
    },
  }
}

function node(operator, operands, results, attributes = {}) {
  return message(
    ...operands.map((name) => field(1, name)),
    ...results.map((name) => field(2, name)),
    field(3, `make_${results[0]}`),
    field(4, operator),
    ...Object.entries(attributes).map(([name, value]) => field(5, attribute(name, value))),
  )
}

function attribute(name, value) {
  if (Array.isArray(value)) {
    return message(field(1, name), ...value.map((each) => integer(8, each)), integer(20, ATTRIBUTE.integers))
  }
  if (typeof value === 'number') return message(field(1, name), integer(3, value), integer(20, ATTRIBUTE.integer))
  return message(field(1, name), float(2, value.float), integer(20, ATTRIBUTE.float))
}

function tensor(name, type, shape, data) {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength) // little-endian, as ONNX requires
  return message(
    ...shape.map((size) => integer(1, size)),
    integer(2, DATA_TYPES[type]),
    field(8, name),
    field(9, bytes),
  )
}

function valueInfo(name, type, shape) {
  const sizes = shape.map((size) => field(1, typeof size === 'string' ? field(2, size) : integer(1, size)))
  const tensorType = message(integer(1, DATA_TYPES[type]), field(2, message(...sizes)))
  return message(field(1, name), field(2, field(1, tensorType)))
}
