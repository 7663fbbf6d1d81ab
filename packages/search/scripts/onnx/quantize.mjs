/**
 * The largest quantised weight. Not 127: processors with AVX2 but without VNNI add two products of an unsigned and a
 * signed byte in 16 bits, and 2 · 255 · 64 is the largest sum that fits. With this limit a model gives the same vectors
 * on all processors.
 */
const LARGEST = 64

/** Avoids a division by zero for an all-zero row or column. */
const SMALLEST_RANGE = 1e-9

/** @typedef {{ shape: number[], data: Float32Array }} Tensor */

/** Quantises a matrix to 8 bits, with one scale for each column. @param {Tensor} matrix */
export function quantizeColumns({ shape: [rows, columns], data }) {
  return quantize(data, columns, rows, (column, row) => row * columns + column)
}

/** Quantises a matrix to 8 bits, with one scale for each row. @param {Tensor} matrix */
export function quantizeRows({ shape: [rows, columns], data }) {
  return quantize(data, rows, columns, (row, column) => row * columns + column)
}

/** @param {(line: number, index: number) => number} at position of an element of a row or column */
function quantize(data, lines, length, at) {
  const quantized = new Int8Array(data.length)
  const scales = new Float32Array(lines)
  for (let line = 0; line < lines; line++) {
    let range = SMALLEST_RANGE
    for (let index = 0; index < length; index++) range = Math.max(range, Math.abs(data[at(line, index)]))
    const scale = range / LARGEST
    scales[line] = scale
    for (let index = 0; index < length; index++) quantized[at(line, index)] = Math.round(data[at(line, index)] / scale)
  }
  return { quantized, scales }
}
