import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'

/** Whether a member of a document contains what a filter asks for. */
export type ContainmentTest = (has: JsonValue | undefined) => boolean

/**
 * Prepares a test whether a value equals `wanted` or is a list that contains it. If `wanted` is a list, all its items
 * must be contained; if it is an object, all its members. Wanted values are gathered in a set, so that a test takes time
 * in proportion to the value, not to its product with the filter.
 *
 * @param asText a string also matches the number or boolean that it spells
 */
export function containmentTest(wanted: JsonValue, asText = false): ContainmentTest {
  const scalars = new Set<JsonValue>()
  const objects = new Map<string, (leaf: JsonValue) => boolean>()
  collect(wanted, scalars, objects, asText)
  const [scalar] = scalars
  const [object] = objects.values()
  // Most filters want one value, which needs no sets.
  if (scalars.size === 1 && scalar !== undefined && !object) {
    return (has) => has !== undefined && someLeaf(has, (leaf) => leaf === scalar || (asText && textOf(leaf) === scalar))
  }
  if (scalars.size === 0 && objects.size === 1 && object) return (has) => has !== undefined && someLeaf(has, object)
  const tests = [...objects.values()]
  return (has) => has !== undefined && containsAll(has, scalars, tests, asText)
}

/** Sorts the items of nested lists into scalars and tests for objects, each only once. */
function collect(
  wanted: JsonValue,
  scalars: Set<JsonValue>,
  objects: Map<string, (leaf: JsonValue) => boolean>,
  asText: boolean,
): void {
  if (Array.isArray(wanted)) for (const item of wanted) collect(item, scalars, objects, asText)
  else if (isObject(wanted)) objects.set(JSON.stringify(wanted), objectTest(wanted, asText))
  else scalars.add(wanted)
}

function objectTest(wanted: JsonObject, asText: boolean): (leaf: JsonValue) => boolean {
  const members = Object.entries(wanted).map(([name, value]) => ({ name, test: containmentTest(value, asText) }))
  return (leaf) =>
    isObject(leaf) && members.every(({ name, test }) => test(Object.hasOwn(leaf, name) ? leaf[name] : undefined))
}

function containsAll(
  has: JsonValue,
  scalars: ReadonlySet<JsonValue>,
  objects: readonly ((leaf: JsonValue) => boolean)[],
  asText: boolean,
): boolean {
  const found = new Set<JsonValue>()
  let missing = objects
  const isComplete = (): boolean => found.size === scalars.size && missing.length === 0
  const take = (leaf: JsonValue): boolean => {
    if (isObject(leaf)) missing = missing.filter((test) => !test(leaf))
    else {
      if (scalars.has(leaf)) found.add(leaf)
      const text = asText ? textOf(leaf) : undefined
      if (text !== undefined && scalars.has(text)) found.add(text)
    }
    return isComplete()
  }
  return isComplete() || someLeaf(has, take)
}

/** Whether a value, or an item of nested lists, passes. */
function someLeaf(value: JsonValue, test: (leaf: JsonValue) => boolean): boolean {
  if (!Array.isArray(value)) return test(value)
  for (const item of value) if (someLeaf(item, test)) return true
  return false
}

const textOf = (leaf: JsonValue): string | undefined =>
  typeof leaf === 'number' || typeof leaf === 'boolean' ? String(leaf) : undefined
