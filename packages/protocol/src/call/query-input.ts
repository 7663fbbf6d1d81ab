import type { JsonObject, JsonValue } from '../json.js'
import { memberSchemas } from './member-schemas.js'

/**
 * The input that query parameters stand for, converted to the types that the operation declares. A text that cannot
 * be converted stays a text, for the schema check to judge; a repeated parameter is a list.
 */
export function readQueryInput(
  parameters: Iterable<readonly [string, string | readonly string[]]>,
  description: JsonObject | undefined,
): JsonObject {
  const input: JsonObject = {}
  for (const [name, value] of parameters) {
    if (name === '__proto__') continue
    const types = memberSchemas(description ?? {}, name).map(({ type }) => type)
    input[name] = typeof value === 'string' ? toTyped(value, types) : [...value]
  }
  return input
}

function toTyped(text: string, types: readonly (JsonValue | undefined)[]): JsonValue {
  if (types.includes('array')) return [text]
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  const isNumber = types.includes('number') || types.includes('integer')
  return isNumber && /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
}
