import { isObject, type JsonObject, type JsonValue } from './json.js'
import type { SchemaGraph } from './schema-graph.js'
import { APPLICATORS, ASSERTIONS } from './schema-keywords.js'
import { WORK, type Work } from './work-budget.js'

/**
 * The schema as the validator gets it: only keywords that mean something, each subschema once, references renamed to
 * `#/$defs/n`. What a compiler could stumble over (`$id`, `$anchor`, `$async`, `id`, `nullable` without a type, formats
 * nobody knows) is gone, and nothing is applied that was not measured.
 */
export function closeSchema(root: JsonObject, graph: SchemaGraph, formats: ReadonlySet<string>): JsonObject {
  const names = new Map<JsonValue, string>()
  for (const { target } of graph.values()) {
    if (target !== undefined && !names.has(target)) names.set(target, String(names.size))
  }
  const nameOf = (schema: JsonValue): JsonObject => ({ $ref: `#/$defs/${names.get(schema)}` })

  const inline = (schema: JsonValue): JsonValue => {
    if (!isObject(schema)) return schema
    return names.has(schema) ? nameOf(schema) : copy(schema)
  }

  const copy = (schema: JsonObject): JsonObject => {
    const copied: JsonObject = {}
    for (const [name, value] of Object.entries(schema)) {
      const keyword = APPLICATORS.get(name)
      if (ASSERTIONS.has(name)) copied[name] = value
      if (keyword && keyword.applies !== 'never') copied[name] = keyword.form === 'schema' ? inline(value) : each(value, inline)
    }
    if (typeof copied.format === 'string' && !formats.has(copied.format)) delete copied.format
    // OpenAPI's way to say "or null".
    if (schema.nullable === true && schema.type !== undefined) copied.type = [...new Set([schema.type, 'null'].flat())]
    const target = graph.get(schema)?.target
    return { ...copied, ...(target !== undefined && nameOf(target)), [WORK]: workOf(copied) }
  }

  const definitions = [...names].map(([schema, name]) => [name, isObject(schema) ? copy(schema) : schema] as const)
  const top = inline(root)
  return { ...(isObject(top) ? top : {}), $defs: Object.fromEntries(definitions) }
}

function each(parts: JsonValue, change: (part: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(parts)) return parts.map(change)
  if (!isObject(parts)) return parts
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part)]))
}

const PER_CHILD = ['items', 'contains', 'additionalProperties', 'propertyNames', 'minProperties', 'maxProperties']
const PER_CHILD_TOO = ['unevaluatedProperties', 'unevaluatedItems']
const PER_CHARACTER = ['minLength', 'maxLength', 'format']

/** Patterns and uniqueItems are counted where they run, because their work depends on more than the value's size. */
function workOf(schema: JsonObject): Work {
  const countOf = (names: string[]): number => names.filter((name) => name in schema).length
  const visit = Object.entries(schema).reduce((sum, [name, value]) => sum + (APPLICATORS.has(name) ? partsIn(value) : valuesIn(value)), 1)
  const patterns = isObject(schema.patternProperties) ? Object.keys(schema.patternProperties).length : 0
  return [visit, countOf(PER_CHILD) + countOf(PER_CHILD_TOO) + patterns, countOf(PER_CHARACTER)]
}

const partsIn = (value: JsonValue): number => (typeof value === 'object' && value !== null ? Object.keys(value).length : 1)

const valuesIn = (value: JsonValue): number =>
  typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((sum, part) => sum + valuesIn(part), 1) : 1
