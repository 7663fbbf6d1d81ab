import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { configSchema } from './schema.js'
import { DEFAULTS } from './settings.js'

/** The JSON Schema of the config file for editors: the one that the file is checked with, and the defaults. */
export function toEditorSchema(): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Config file of a Switchboard directory',
    ...withDefaults(configSchema, DEFAULTS),
  }
}

function withDefaults(schema: JsonObject, defaults: unknown): JsonObject {
  const known: JsonObject = { ...schema, ...(schema.format === 'absolute-uri' && { format: 'uri' }) }
  if (isObject(schema.properties)) {
    const own = typeof defaults === 'object' && defaults !== null ? new Map(Object.entries(defaults)) : new Map()
    known.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [
        name,
        isObject(inner) ? withDefaults(inner, own.get(name)) : inner,
      ]),
    )
  } else if (isJson(defaults)) known.default = defaults
  if (isObject(schema.items)) known.items = withDefaults(schema.items, undefined)
  return known
}

const isJson = (value: unknown): value is JsonValue =>
  Array.isArray(value) ? value.every(isJson) : ['string', 'number', 'boolean'].includes(typeof value)
