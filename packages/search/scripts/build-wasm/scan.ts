// AssemblyScript, not TypeScript: the inner loops of src/vectors, compiled by
// ../build-wasm.mjs into src/vectors/scan-wasm.ts.
// The functions keep no state: the host (src/vectors/row-store.ts) lays the memory out and passes addresses.

/**
 * For each row of 1-bit vectors: in how many bits it differs from the query. Written to `distances` (u16 a row), and
 * counted in `histogram` (u32 a distance), so that the host can tell how far the nearest few hundred reach.
 */
export function measure(
  bits: usize,
  rows: i32,
  bytesPerRow: usize,
  query: usize,
  distances: usize,
  histogram: usize,
): void {
  for (let row = 0; row < rows; row++) {
    let distance: u64 = 0
    // popcnt of 64 bits is one instruction of the processor; that of 16 SIMD bytes is emulated by about eight.
    for (let at: usize = 0; at < bytesPerRow; at += 16) {
      distance += popcnt<u64>(load<u64>(bits + at) ^ load<u64>(query + at))
      distance += popcnt<u64>(load<u64>(bits + at, 8) ^ load<u64>(query + at, 8))
    }
    store<u16>(distances, <u16>distance)
    const bin = histogram + ((<usize>distance) << 2)
    store<u32>(bin, load<u32>(bin) + 1)
    bits += bytesPerRow
    distances += 2
  }
}

/** Writes the numbers (u32, from `firstRow` on) of the rows that are no farther than `limit`; returns how many. */
export function collect(distances: usize, rows: i32, limit: u16, firstRow: u32, found: usize): i32 {
  const start = found
  const limits = i16x8.splat(limit)
  for (let row = 0; row < rows; row += 8) {
    // One bit for each of eight rows. They rarely match, so the eight are mostly passed over at once.
    let matches = i16x8.bitmask(i16x8.le_u(v128.load(distances), limits))
    while (matches !== 0) {
      const match = row + ctz<i32>(matches)
      matches &= matches - 1
      if (match >= rows) break // what lies behind the last row
      store<u32>(found, firstRow + match)
      found += 4
    }
    distances += 16
  }
  return <i32>((found - start) >> 2)
}

/**
 * Dot products of the query (i16) with rows of i8 codes, which lie at the given addresses (u32), each followed by its
 * scale (f32). Written to `scores` (f32): sum × scale × the query's scale.
 */
export function score(
  addresses: usize,
  rows: i32,
  dimensions: usize,
  query: usize,
  queryScale: f32,
  scores: usize,
): void {
  for (let row = 0; row < rows; row++) {
    const codes = <usize>load<u32>(addresses)
    // Four sums, as each addition would otherwise wait for the one before.
    let a = i32x4.splat(0)
    let b = i32x4.splat(0)
    let c = i32x4.splat(0)
    let d = i32x4.splat(0)
    for (let at: usize = 0; at < dimensions; at += 32) {
      const code = codes + at
      const other = query + (at << 1)
      a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load8x8_s(code), v128.load(other)))
      b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load8x8_s(code, 8), v128.load(other, 16)))
      c = i32x4.add(c, i32x4.dot_i16x8_s(v128.load8x8_s(code, 16), v128.load(other, 32)))
      d = i32x4.add(d, i32x4.dot_i16x8_s(v128.load8x8_s(code, 24), v128.load(other, 48)))
    }
    const sums = i32x4.add(i32x4.add(a, b), i32x4.add(c, d))
    const sum =
      i32x4.extract_lane(sums, 0) +
      i32x4.extract_lane(sums, 1) +
      i32x4.extract_lane(sums, 2) +
      i32x4.extract_lane(sums, 3)
    store<f32>(scores, <f32>sum * load<f32>(codes + dimensions) * queryScale)
    addresses += 4
    scores += 4
  }
}
