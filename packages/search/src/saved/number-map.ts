/** A map from numbers to numbers, as a file or a message can hold it. */
export interface NumberMapState {
  readonly keys: Float64Array
  readonly values: Float64Array
}

export const saveNumberMap = (map: ReadonlyMap<number, number>): NumberMapState => ({
  keys: Float64Array.from(map.keys()),
  values: Float64Array.from(map.values()),
})

export function restoreNumberMap({ keys, values }: NumberMapState): Map<number, number> {
  const map = new Map<number, number>()
  for (let i = 0; i < keys.length; i++) map.set(keys[i] ?? 0, values[i] ?? 0)
  return map
}
