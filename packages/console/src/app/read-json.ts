import { asObjects, asStrings, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'

/** The value at a path of members; undefined if one is missing. */
export function valueAt(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let found = value
  for (const name of path) found = isObject(found) ? found[name] : undefined
  return found
}

export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path)
  return typeof found === 'string' ? found : undefined
}

export function numberAt(value: JsonValue | undefined, ...path: readonly string[]): number | undefined {
  const found = valueAt(value, ...path)
  return typeof found === 'number' ? found : undefined
}

export const objectsAt = (value: JsonValue | undefined, ...path: readonly string[]): JsonObject[] =>
  asObjects(valueAt(value, ...path))

export const textsAt = (value: JsonValue | undefined, ...path: readonly string[]): string[] =>
  asStrings(valueAt(value, ...path))

/** Members whose values are numbers, such as counts by name. */
export function numbersAt(value: JsonValue | undefined, ...path: readonly string[]): [name: string, value: number][] {
  const found = valueAt(value, ...path)
  if (!isObject(found)) return []
  return Object.entries(found).flatMap(([name, each]) => (typeof each === 'number' ? [[name, each]] : []))
}
