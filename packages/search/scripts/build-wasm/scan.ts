// AssemblyScript, not TypeScript: the inner loops of src/vectors, compiled by ../build-wasm.mjs into
// src/vectors/scan-wasm.ts. The functions are stateless: the host (src/vectors/row-store.ts) lays out the memory and
// passes addresses.

// Rows are read in four streams, each a quarter of them: the processor can then have four cache misses in flight instead
// of one (a scan of a million rows takes 0.6 of the time), and each part of the query is loaded once for four rows.

/**
 * Computes the Hamming distance between the query and each row of 1-bit vectors. Writes them to `distances` (one u16 for
 * each row) and counts them in `histogram` (one u32 for each distance), from which the host finds the radius that
 * contains the nearest few hundred rows.
 */
export function measure(
  bits: usize,
  rows: i32,
  bytesPerRow: usize,
  query: usize,
  distances: usize,
  histogram: usize,
): void {
  const quarter = <usize>(rows >> 2)
  for (let row: usize = 0; row < quarter; row++) {
    const a = bits + row * bytesPerRow
    const b = a + quarter * bytesPerRow
    const c = b + quarter * bytesPerRow
    const d = c + quarter * bytesPerRow
    let ofA: u64 = 0
    let ofB: u64 = 0
    let ofC: u64 = 0
    let ofD: u64 = 0
    // A 64-bit popcnt is one machine instruction; the SIMD popcnt of 16 bytes is emulated with about eight.
    for (let at: usize = 0; at < bytesPerRow; at += 16) {
      const low = load<u64>(query + at)
      const high = load<u64>(query + at, 8)
      ofA += popcnt<u64>(load<u64>(a + at) ^ low) + popcnt<u64>(load<u64>(a + at, 8) ^ high)
      ofB += popcnt<u64>(load<u64>(b + at) ^ low) + popcnt<u64>(load<u64>(b + at, 8) ^ high)
      ofC += popcnt<u64>(load<u64>(c + at) ^ low) + popcnt<u64>(load<u64>(c + at, 8) ^ high)
      ofD += popcnt<u64>(load<u64>(d + at) ^ low) + popcnt<u64>(load<u64>(d + at, 8) ^ high)
    }
    note(ofA, row, distances, histogram)
    note(ofB, row + quarter, distances, histogram)
    note(ofC, row + quarter * 2, distances, histogram)
    note(ofD, row + quarter * 3, distances, histogram)
  }
  for (let row = quarter * 4; row < <usize>rows; row++) {
    let distance: u64 = 0
    for (let at: usize = 0; at < bytesPerRow; at += 8) {
      distance += popcnt<u64>(load<u64>(bits + row * bytesPerRow + at) ^ load<u64>(query + at))
    }
    note(distance, row, distances, histogram)
  }
}

function note(distance: u64, row: usize, distances: usize, histogram: usize): void {
  store<u16>(distances + row * 2, <u16>distance)
  const bin = histogram + <usize>distance * 4
  store<u32>(bin, load<u32>(bin) + 1)
}

/** Writes the row numbers (u32, starting at `firstRow`) of all rows within distance `limit` to `found`; returns their count. */
export function collect(distances: usize, rows: i32, limit: u16, firstRow: u32, found: usize): i32 {
  const start = found
  const limits = i16x8.splat(limit)
  for (let row = 0; row < rows; row += 8) {
    // One bit for each of eight rows. Matches are rare, so mostly all eight are skipped at once.
    let matches = i16x8.bitmask(i16x8.le_u(v128.load(distances), limits))
    while (matches !== 0) {
      const match = row + ctz<i32>(matches)
      matches &= matches - 1
      if (match >= rows) break // beyond the last row
      store<u32>(found, firstRow + match)
      found += 4
    }
    distances += 16
  }
  return <i32>((found - start) >> 2)
}

/**
 * Computes the dot products of the query (i16) with rows of i8 codes at the given addresses (u32), each followed by its
 * scale (f32). Writes dot product × scale × query scale to `scores` (f32). `rows` must be a multiple of four.
 */
export function score(
  addresses: usize,
  rows: i32,
  dimensions: usize,
  query: usize,
  queryScale: f32,
  scores: usize,
): void {
  const quarter = <usize>rows // in bytes, of the addresses and of the scores, which have four bytes each
  for (let row: usize = 0; row < quarter; row += 4) {
    const a = <usize>load<u32>(addresses + row)
    const b = <usize>load<u32>(addresses + row + quarter)
    const c = <usize>load<u32>(addresses + row + quarter * 2)
    const d = <usize>load<u32>(addresses + row + quarter * 3)
    let ofA = i32x4.splat(0)
    let ofB = i32x4.splat(0)
    let ofC = i32x4.splat(0)
    let ofD = i32x4.splat(0)
    for (let at: usize = 0; at < dimensions; at += 16) {
      const low = v128.load(query + at * 2)
      const high = v128.load(query + at * 2, 16)
      ofA = i32x4.add(ofA, dot16(a + at, low, high))
      ofB = i32x4.add(ofB, dot16(b + at, low, high))
      ofC = i32x4.add(ofC, dot16(c + at, low, high))
      ofD = i32x4.add(ofD, dot16(d + at, low, high))
    }
    const out = scores + row
    store<f32>(out, <f32>sum(ofA) * load<f32>(a + dimensions) * queryScale)
    store<f32>(out + quarter, <f32>sum(ofB) * load<f32>(b + dimensions) * queryScale)
    store<f32>(out + quarter * 2, <f32>sum(ofC) * load<f32>(c + dimensions) * queryScale)
    store<f32>(out + quarter * 3, <f32>sum(ofD) * load<f32>(d + dimensions) * queryScale)
  }
}

/** The dot product with sixteen codes, as four partial sums. */
function dot16(codes: usize, low: v128, high: v128): v128 {
  return i32x4.add(i32x4.dot_i16x8_s(v128.load8x8_s(codes), low), i32x4.dot_i16x8_s(v128.load8x8_s(codes, 8), high))
}

function sum(lanes: v128): i32 {
  return (
    i32x4.extract_lane(lanes, 0) +
    i32x4.extract_lane(lanes, 1) +
    i32x4.extract_lane(lanes, 2) +
    i32x4.extract_lane(lanes, 3)
  )
}
