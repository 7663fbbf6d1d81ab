import type { JsonObject, JsonValue } from '@switchboard/protocol/json'
import { toField } from './field.js'

/** Required objects that a form fills in by itself, nested in each other; more only occur in recursive schemas. */
const MAX_DEPTH = 8
const MAX_ITEMS = 20

/** What a form starts with: defaults, constants and the required objects around them. Undefined: nothing. */
export function initialValue(place: JsonValue | undefined, root: JsonObject, depth = 0): JsonValue | undefined {
  const field = toField(place, root)
  const preset = field.schema.default
  if (preset !== undefined) return preset
  if (depth > MAX_DEPTH) return undefined
  switch (field.kind) {
    case 'constant':
      return field.value
    case 'object': {
      const entries = field.members.flatMap(({ name, schema, isRequired }) => {
        const value = isRequired ? initialValue(schema, root, depth + 1) : presetOf(schema, root)
        return value === undefined ? [] : [[name, value] as const]
      })
      return Object.fromEntries(entries)
    }
    case 'array': {
      const item = initialValue(field.items, root, depth + 1)
      return item === undefined ? [] : Array.from({ length: Math.min(field.min, MAX_ITEMS) }, () => item)
    }
    case 'choice':
      return initialValue(field.alternatives[0]?.schema, root, depth + 1)
    case 'boolean':
      return false
    case 'json':
      return field.schema.type === 'object' ? {} : undefined
    default:
      return undefined
  }
}

const presetOf = (place: JsonValue, root: JsonObject): JsonValue | undefined => toField(place, root).schema.default
