// The part of the protobuf wire format that an ONNX file needs: https://protobuf.dev/programming-guides/encoding

const VARINT = 0
const LENGTH_DELIMITED = 2
const FIXED_32 = 5

/** @param {number} number @param {number} wireType */
const tag = (number, wireType) => varint((number << 3) | wireType)

/** @param {number} value an integer; negative ones take ten bytes, as 64-bit two's complement */
function varint(value) {
  const bytes = []
  let rest = BigInt.asUintN(64, BigInt(value))
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

/** A message is the concatenation of its fields. @param {Buffer[]} fields */
export const message = (...fields) => Buffer.concat(fields)

/** @param {number} number @param {number} value */
export const integer = (number, value) => Buffer.concat([tag(number, VARINT), varint(value)])

/** @param {number} number @param {number} value */
export function float(number, value) {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([tag(number, FIXED_32), bytes])
}

/** A string, bytes or a nested message. @param {number} number @param {string | Buffer} value */
export function field(number, value) {
  const bytes = Buffer.from(value)
  return Buffer.concat([tag(number, LENGTH_DELIMITED), varint(bytes.length), bytes])
}
