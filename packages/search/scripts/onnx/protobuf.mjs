// As much of the protobuf wire format as an ONNX file needs: https://protobuf.dev/programming-guides/encoding

const VARINT = 0
const LENGTH_DELIMITED = 2
const FIXED_32 = 5

/** @param {number} number @param {number} wireType */
const tag = (number, wireType) => varint((number << 3) | wireType)

/** @param {number} value an integer; a negative one takes ten bytes, as two's complement of 64 bits */
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

/** A message is its fields, one after the other. @param {Buffer[]} fields */
export const message = (...fields) => Buffer.concat(fields)

/** @param {number} number @param {number} value */
export const integer = (number, value) => Buffer.concat([tag(number, VARINT), varint(value)])

/** @param {number} number @param {number} value */
export function float(number, value) {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([tag(number, FIXED_32), bytes])
}

/** Text, bytes or a message inside a message. @param {number} number @param {string | Buffer} value */
export function field(number, value) {
  const bytes = Buffer.from(value)
  return Buffer.concat([tag(number, LENGTH_DELIMITED), varint(bytes.length), bytes])
}
