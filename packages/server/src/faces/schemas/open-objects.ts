import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'

/**
 * Says explicitly that an object whose members are not described may have any: generators of types read a plain
 * `"type": "object"` as one without members.
 *
 * @param all says so of every object, as a document may have members that no draft defines, at any level
 */
export function openObjects(schema: JsonObject, all = false): JsonObject {
  const { type, properties, additionalProperties } = schema
  const isPlain = [type].flat().includes('object') && (all || properties === undefined)
  return {
    ...Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, inside(value, all)])),
    ...(isPlain && additionalProperties === undefined && { additionalProperties: true }),
  }
}

const inside = (value: JsonValue, all: boolean): JsonValue => {
  if (Array.isArray(value)) return value.map((item) => inside(item, all))
  return isObject(value) ? openObjects(value, all) : value
}
