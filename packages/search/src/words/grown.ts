/** Room to grow by half when a typed array is full: few copies, little waste. */
const GROWTH = 1.5

/** A copy with room for at least so many values. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array>(
  array: T,
  length: number,
): T {
  if (length <= array.length) return array
  const copy = new (array.constructor as new (length: number) => T)(Math.ceil(Math.max(length, array.length * GROWTH)))
  copy.set(array)
  return copy
}
