import { quantiseQuery, signBits, unitScale } from './quantise.js'
import { createScanKernels } from './scan-kernels.js'

/** Memory grows by blocks of this many rows, which never move. */
const BLOCK_ROWS = 4096
const PAGE_BYTES = 65_536
/** The address space of WebAssembly. */
const MAX_BYTES = 2 ** 32

/** Vectors by row number, quantised to 8 bits for each dimension for scoring and to 1 bit for a fast first pass. */
export interface RowStore {
  readonly bytes: number
  /** Allocates memory for this many rows; throws a RangeError if there is not enough. */
  reserve(rows: number): void
  write(row: number, codes: Int8Array): void
  /** The memory of the first `rows` rows, in blocks, to be saved; valid until the next change. */
  blocksOf(rows: number): Uint8Array[]
  /** Sets the rows that such blocks contain. */
  load(blocks: readonly Uint8Array[]): void
  read(row: number): Int8Array
  /** Copies one row over another. */
  copy(from: number, to: number): void
  /** Sets the query for `scanSigns` and `score`. */
  setQuery(query: Float32Array): void
  /**
   * Computes the Hamming distance between the sign bits of the query and of the first `rows` rows. The function it
   * returns gives the `wanted` nearest rows and all ties with the last of them, so that the result does not depend on
   * the order of rows.
   */
  scanSigns(rows: number): (wanted: number) => Uint32Array
  /** The cosine of each of the rows with the query. */
  score(rows: Uint32Array): Float32Array
}

export function createRowStore(dimensions: number): RowStore {
  const { kernels, memory } = createScanKernels()
  const bitBytes = dimensions / 8
  const codeBytes = dimensions + 4 // codes, then their scale as a 32-bit float

  // Memory layout: scratch space of a search, then blocks, each with the sign bits, distances and codes of its rows.
  const queryBits = 0
  const queryCodes = queryBits + bitBytes
  const histogram = queryCodes + dimensions * 2
  const batch = histogram + (dimensions + 1) * 4
  const scores = batch + BLOCK_ROWS * 4
  const blocksStart = Math.ceil((scores + BLOCK_ROWS * 4) / PAGE_BYTES) * PAGE_BYTES
  const distancesOffset = BLOCK_ROWS * bitBytes
  const codesOffset = distancesOffset + BLOCK_ROWS * 2
  const blockBytes = codesOffset + BLOCK_ROWS * codeBytes
  const maxBlocks = Math.floor((MAX_BYTES - blocksStart) / blockBytes)

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

  /** The Hamming distance within which the `wanted` nearest rows lie, and how many rows lie within it. */
  const radius = (wanted: number): { distance: number; count: number } => {
    let count = 0
    for (let distance = 0; distance <= dimensions; distance++) {
      count += words[histogram / 4 + distance] ?? 0
      if (count >= wanted) return { distance, count }
    }
    return { distance: dimensions, count }
  }

  const reserve = (rows: number): void => {
    const needed = Math.ceil(rows / BLOCK_ROWS)
    if (needed <= blocks) return
    // Grow by at least a quarter: some engines copy the memory.
    const target = Math.max(needed, Math.min(Math.ceil(blocks * 1.25), maxBlocks))
    growTo(blockAt(target))
    blocks = target
  }

  growTo(blocksStart)
  return {
    get bytes() {
      return memory.buffer.byteLength
    },

    reserve,

    blocksOf: (rows) =>
      Array.from({ length: Math.ceil(rows / BLOCK_ROWS) }, (_, block) =>
        bytes.subarray(blockAt(block), blockAt(block + 1)),
      ),

    load(saved) {
      reserve(saved.length * BLOCK_ROWS)
      for (const [block, content] of saved.entries()) bytes.set(content, blockAt(block))
    },

    write(row, codes) {
      bytes.set(signBits(codes), bitsOf(row))
      bytes.set(codes, codesOf(row))
      floats[(codesOf(row) + dimensions) / 4] = unitScale(codes)
    },

    read: (row) => new Int8Array(bytes.slice(codesOf(row), codesOf(row) + dimensions).buffer),

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
        const { distance, count } = radius(wanted)
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
        // The kernel takes a multiple of four rows; pad with the first one.
        const padded = Math.ceil(part.length / 4) * 4
        for (let i = 0; i < padded; i++) words[batch / 4 + i] = codesOf(part[i] ?? part[0] ?? 0)
        kernels.score(batch, padded, dimensions, queryCodes, queryScale, scores)
        similarities.set(floats.subarray(scores / 4, scores / 4 + part.length), start)
      }
      return similarities
    },
  }
}
