import { isObject, type JsonObject, type JsonValue, nearestOf } from '@switchboard/protocol'
import { configSchema } from './schema.js'

/** The first unknown key, and the known key that is most similar to it. */
export function nearestKey(
  settings: JsonValue,
  schema: JsonObject = configSchema,
  path = '',
): { key: string; nearest: string } | undefined {
  if (!isObject(settings) || !isObject(schema.properties)) return undefined
  for (const [name, value] of Object.entries(settings)) {
    const inner = schema.properties[name]
    if (!Object.hasOwn(schema.properties, name)) {
      return { key: path + name, nearest: `${path}${nearestOf(name, Object.keys(schema.properties)) ?? ''}` }
    }
    const deeper = isObject(inner) ? nearestKey(value, inner, `${path}${name}.`) : undefined
    if (deeper) return deeper
  }
  return undefined
}
