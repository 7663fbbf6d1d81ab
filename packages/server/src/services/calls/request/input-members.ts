import { isObject, type JsonObject, type JsonValue, type Operation, toJsonSchema } from '@switchboard/protocol'

/** Subschemas inside each other that a member is looked for in. */
const MAX_DEPTH = 4
const COMBINATIONS = ['allOf', 'anyOf', 'oneOf']

/** The schemas that a description of input or output has for a member; none: it does not speak of the member. */
export function schemasOf(description: JsonObject, name: string): JsonObject[] {
  const root = toJsonSchema(description)
  return [...find(root, root, name, MAX_DEPTH)]
}

function* find(root: JsonObject, schema: JsonObject, name: string, depth: number): Generator<JsonObject> {
  if (depth === 0) return
  const { properties, $ref } = schema
  if (isObject(properties) && Object.hasOwn(properties, name)) yield isObject(properties[name]) ? properties[name] : {}
  const target = typeof $ref === 'string' ? resolve(root, $ref) : undefined
  if (target) yield* find(root, target, name, depth - 1)
  for (const word of COMBINATIONS) {
    const parts = schema[word]
    if (Array.isArray(parts)) for (const part of parts) if (isObject(part)) yield* find(root, part, name, depth - 1)
  }
}

/** A reference to a definition of the same document, the form that generators write. */
function resolve(root: JsonObject, reference: string): JsonObject | undefined {
  const [, word = '', name = ''] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(reference) ?? []
  const group = root[word]
  const target = isObject(group) && Object.hasOwn(group, name) ? group[name] : undefined
  return isObject(target) ? target : undefined
}

/**
 * Takes a word of the call itself (operation, stream, sessionId …) out of the body, unless the agent has a member of
 * that name: then it is the agent's.
 */
export function takeWord(
  operation: Operation,
  value: JsonValue,
  name: string,
): { word: JsonValue | undefined; rest: JsonValue } {
  if (!isObject(value) || !Object.hasOwn(value, name) || schemasOf(operation.inputs, name).length > 0)
    return { word: undefined, rest: value }
  const { [name]: word, ...rest } = value
  return { word, rest }
}
