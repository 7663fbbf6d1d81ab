/** Growth by half: few copies, little unused memory. */
const GROWTH = 1.5

type TypedArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array

/** Returns the array itself if it has room for `capacity` values, else a larger copy. */
export function ensureCapacity<T extends TypedArray>(array: T, capacity: number): T {
  if (capacity <= array.length) return array
  const length = Math.ceil(Math.max(capacity, array.length * GROWTH))
  const copy = new (array.constructor as new (length: number) => T)(length)
  copy.set(array)
  return copy
}
