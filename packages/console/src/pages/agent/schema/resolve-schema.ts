import { asStrings, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'

/** References and `allOf` that are followed from one place of a schema; a publisher could nest them for ever. */
const MAX_STEPS = 20

/**
 * A place of a schema as one object: references within the document are followed, and `allOf` is merged. What cannot be
 * followed accepts everything, so that a form falls back to JSON; the directory checks the input in any case.
 */
export function resolveSchema(schema: JsonValue | undefined, root: JsonObject): JsonObject {
  return resolve(schema, root, { steps: MAX_STEPS })
}

function resolve(schema: JsonValue | undefined, root: JsonObject, left: { steps: number }): JsonObject {
  if (!isObject(schema) || left.steps-- <= 0) return {}
  const { $ref, allOf, ...own } = schema
  const parts = [
    ...(typeof $ref === 'string' ? [resolve(findReference($ref, root), root, left)] : []),
    ...(Array.isArray(allOf) ? allOf.map((part) => resolve(part, root, left)) : []),
  ]
  return parts.length === 0 ? own : mergeSchemas([...parts, own])
}

/** One schema with the members and requirements of all; of other keywords, the last one counts. */
export function mergeSchemas(schemas: readonly JsonObject[]): JsonObject {
  const properties = schemas.flatMap((schema) => (isObject(schema.properties) ? [schema.properties] : []))
  const required = [...new Set(schemas.flatMap((schema) => asStrings(schema.required)))]
  return {
    ...Object.assign({}, ...schemas),
    ...(properties.length > 0 && { properties: Object.assign({}, ...properties) }),
    ...(required.length > 0 && { required }),
  }
}

function findReference(reference: string, root: JsonObject): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined
  let found: JsonValue | undefined = root
  for (const token of readPointer(reference.slice(1))) {
    if (Array.isArray(found)) found = found[Number(token)]
    else found = isObject(found) && Object.hasOwn(found, token) ? found[token] : undefined
  }
  return found
}

function readPointer(fragment: string): string[] {
  try {
    const [, ...tokens] = decodeURIComponent(fragment).split('/')
    return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  } catch {
    return ['']
  }
}
