import { asObjects, isObject, type JsonObject, type JsonValue } from '../json.js'
import { memberOf, pointerNames } from '../schema/graph.js'
import { toJsonSchema } from '../schema/simple-map.js'

const COMBINATIONS = ['allOf', 'anyOf', 'oneOf']

/**
 * The schemas that an input or output description gives for one member, found through references and combinations. An
 * empty list means that the description does not declare the member.
 */
export function memberSchemas(description: JsonObject, name: string): JsonObject[] {
  const root = toJsonSchema(description)
  const found: JsonObject[] = []
  // A Set yields what is added during iteration, and circular references are added once.
  const reachable = new Set([root])
  for (const { properties, $ref, ...schema } of reachable) {
    if (isObject(properties) && Object.hasOwn(properties, name)) {
      found.push(isObject(properties[name]) ? properties[name] : {})
    }
    const target = typeof $ref === 'string' ? resolve(root, $ref) : undefined
    if (isObject(target)) reachable.add(target)
    for (const keyword of COMBINATIONS) for (const part of asObjects(schema[keyword])) reachable.add(part)
  }
  return found
}

/** Whether a description declares a member of that name, which is then the agent's own (C-58, C-59, C-89). */
export const declaresMember = (description: JsonObject, name: string): boolean =>
  memberSchemas(description, name).length > 0

/** Follows a JSON pointer inside the schema; nothing is fetched. */
function resolve(root: JsonObject, ref: string): JsonValue | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  return pointerNames(ref.slice(1)).reduce<JsonValue | undefined>(
    (value, name) => (value === undefined ? undefined : memberOf(value, name)),
    root,
  )
}
