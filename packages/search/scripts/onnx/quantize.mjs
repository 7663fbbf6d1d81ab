/**
 * The largest quantised weight. Not 127: processors with AVX2 but without VNNI add up two products of an unsigned and
 * a signed byte in 16 bits, and 2 · 255 · 64 is the most that fits. So a model gives the same vectors on all of them.
 */
const LARGEST = 64

/** So that a column of zeros has a scale to divide by. */
const SMALLEST_RANGE = 1e-9

/** @typedef {{ shape: number[], data: Float32Array }} Tensor */

/** Each column of a matrix in 8 bits with a scale of its own. @param {Tensor} matrix */
export function quantizeColumns({ shape: [rows, columns], data }) {
  return quantize(data, columns, rows, (column, row) => row * columns + column)
}

/** Each row of a matrix in 8 bits with a scale of its own. @param {Tensor} matrix */
export function quantizeRows({ shape: [rows, columns], data }) {
  return quantize(data, rows, columns, (row, column) => row * columns + column)
}

/** @param {(line: number, index: number) => number} at where the elements of a line are */
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
