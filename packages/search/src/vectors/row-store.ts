import { quantiseQuery, signBits, unitScale } from './quantise.js'
import { createScanKernels } from './scan-kernels.js'

/** Rows of a block. Blocks let the memory grow without moving what is in it. */
const BLOCK_ROWS = 4096
const PAGE_BYTES = 65_536
/** What WebAssembly can address. */
const MOST_BYTES = 2 ** 32

/** Vectors in rows 0, 1, 2…: 8 bits a dimension for scores, and 1 bit a dimension for a first look at all of them. */
export interface RowStore {
  readonly bytes: number
  /** Makes room for this many rows; throws a RangeError if there is not enough memory. */
  reserve(rows: number): void
  write(row: number, codes: Int8Array): void
  /** Copies one row over another. */
  copy(from: number, to: number): void
  /** Sets what the two below compare with. */
  setQuery(query: Float32Array): void
  /**
   * Compares the signs of the first `rows` rows with those of the query. What it returns gives the `wanted` rows that
   * differ least, and all others that differ as little as the last of them: so no order of rows changes the outcome.
   */
  scanSigns(rows: number): (wanted: number) => Uint32Array
  /** The cosine of each of the rows with the query. */
  score(rows: Uint32Array): Float32Array
}

export function createRowStore(dimensions: number): RowStore {
  const { kernels, memory } = createScanKernels()
  const bitBytes = dimensions / 8
  const codeBytes = dimensions + 4 // the codes, then their scale

  // First what a search works with; then the blocks, each with bits, distances and codes of its rows.
  const queryBits = 0
  const queryCodes = queryBits + bitBytes
  const histogram = queryCodes + dimensions * 2
  const batch = histogram + (dimensions + 1) * 4
  const scores = batch + BLOCK_ROWS * 4
  const blocksStart = Math.ceil((scores + BLOCK_ROWS * 4) / PAGE_BYTES) * PAGE_BYTES
  const distancesOffset = BLOCK_ROWS * bitBytes
  const codesOffset = distancesOffset + BLOCK_ROWS * 2
  const blockBytes = codesOffset + BLOCK_ROWS * codeBytes
  const mostBlocks = Math.floor((MOST_BYTES - blocksStart) / blockBytes)

  let blocks = 0
  let queryScale = 0
  let bytes = new Uint8Array(memory.buffer)
  let words = new Uint32Array(memory.buffer)
  let floats = new Float32Array(memory.buffer)

  const growTo = (byteLength: number): void => {
    memory.grow(Math.ceil((byteLength - memory.buffer.byteLength) / PAGE_BYTES))
    bytes = new Uint8Array(memory.buffer)
    words = new Uint32Array(memory.buffer)
    floats = new Float32Array(memory.buffer)
  }
  const blockAt = (block: number): number => blocksStart + block * blockBytes
  const bitsOf = (row: number): number => blockAt(Math.floor(row / BLOCK_ROWS)) + (row % BLOCK_ROWS) * bitBytes
  const codesOf = (row: number): number =>
    blockAt(Math.floor(row / BLOCK_ROWS)) + codesOffset + (row % BLOCK_ROWS) * codeBytes
  const rowsIn = (block: number, rows: number): number => Math.min(BLOCK_ROWS, rows - block * BLOCK_ROWS)

  /** How many bits the `wanted` nearest differ in at most, and how many rows are that near. */
  const reach = (wanted: number): { distance: number; count: number } => {
    let count = 0
    for (let distance = 0; distance <= dimensions; distance++) {
      count += words[histogram / 4 + distance] ?? 0
      if (count >= wanted) return { distance, count }
    }
    return { distance: dimensions, count }
  }

  growTo(blocksStart)
  return {
    get bytes() {
      return memory.buffer.byteLength
    },

    reserve(rows) {
      const needed = Math.ceil(rows / BLOCK_ROWS)
      if (needed <= blocks) return
      // By a quarter at least: some engines copy the memory when it grows.
      const target = Math.max(needed, Math.min(Math.ceil(blocks * 1.25), mostBlocks))
      growTo(blockAt(target))
      blocks = target
    },

    write(row, codes) {
      bytes.set(signBits(codes), bitsOf(row))
      bytes.set(codes, codesOf(row))
      floats[(codesOf(row) + dimensions) / 4] = unitScale(codes)
    },

    copy(from, to) {
      bytes.copyWithin(bitsOf(to), bitsOf(from), bitsOf(from) + bitBytes)
      bytes.copyWithin(codesOf(to), codesOf(from), codesOf(from) + codeBytes)
    },

    setQuery(query) {
      const codes = quantiseQuery(query)
      queryScale = unitScale(codes)
      bytes.set(signBits(codes), queryBits)
      bytes.set(new Uint8Array(codes.buffer), queryCodes)
    },

    scanSigns(rows) {
      words.fill(0, histogram / 4, histogram / 4 + dimensions + 1)
      const used = Math.ceil(rows / BLOCK_ROWS)
      for (let block = 0; block < used; block++) {
        const at = blockAt(block)
        kernels.measure(at, rowsIn(block, rows), bitBytes, queryBits, at + distancesOffset, histogram)
      }
      return (wanted) => {
        const { distance, count } = reach(wanted)
        const nearest = new Uint32Array(count)
        let filled = 0
        for (let block = 0; block < used && filled < count; block++) {
          const distances = blockAt(block) + distancesOffset
          const found = kernels.collect(distances, rowsIn(block, rows), distance, block * BLOCK_ROWS, batch)
          nearest.set(words.subarray(batch / 4, batch / 4 + found), filled)
          filled += found
        }
        return nearest
      }
    },

    score(rows) {
      const similarities = new Float32Array(rows.length)
      for (let start = 0; start < rows.length; start += BLOCK_ROWS) {
        const part = rows.subarray(start, start + BLOCK_ROWS)
        // The kernel takes a multiple of four; what is missing is filled up with the first row.
        const padded = Math.ceil(part.length / 4) * 4
        for (let i = 0; i < padded; i++) words[batch / 4 + i] = codesOf(part[i] ?? part[0] ?? 0)
        kernels.score(batch, padded, dimensions, queryCodes, queryScale, scores)
        similarities.set(floats.subarray(scores / 4, scores / 4 + part.length), start)
      }
      return similarities
    },
  }
}
