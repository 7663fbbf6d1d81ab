import type { JsonObject } from '../json.js'
import { FORMATS } from './check/formats.js'
import { readSchemaGraph, type SchemaNode } from './graph.js'
import { isKnownKeyword, isRestriction } from './keywords.js'
import { isSimpleMap } from './simple-map.js'

/** One part of a schema that is accepted but ignored, or read differently than it is written. */
export interface SchemaAdvice {
  /** JSON pointer from the schema. */
  readonly at: string
  readonly message: string
}

/** Formats that have nothing to check. */
const UNCHECKED_FORMATS = new Set(['float', 'double', 'password', 'binary', 'idn-hostname'])

/**
 * Says what the checker ignores in a publisher's schema, or reads in a way of its own. The schema has passed
 * `checkPublisherSchema`.
 */
export function lintSchema(description: JsonObject): SchemaAdvice[] {
  if (isSimpleMap(description)) return []
  return [...readSchemaGraph(description).values()].flatMap((node) => [
    ...siblingAdvice(node),
    ...Object.keys(node.keywords).flatMap((name) => keywordAdvice(node, name)),
  ])
}

/** Up to draft-07, a `$ref` overrides the keywords beside it. */
function siblingAdvice({ schema, keywords, at }: SchemaNode): SchemaAdvice[] {
  return Object.keys(schema)
    .filter((name) => schema[name] !== null && !Object.hasOwn(keywords, name) && isRestriction(name))
    .map((name) => ({ at: `${at}/${name}`, message: 'is ignored: in draft-07, $ref overrides the keywords beside it' }))
}

function keywordAdvice({ keywords, at }: SchemaNode, name: string): SchemaAdvice[] {
  const message = keywordMessage(keywords, name)
  return message === undefined ? [] : [{ at: `${at}/${name}`, message }]
}

function keywordMessage(keywords: JsonObject, name: string): string | undefined {
  const value = keywords[name]
  switch (name) {
    case 'type':
      if ([value].flat().includes('any'))
        return '"any" is not a type of JSON Schema: leave out "type" to allow any value'
      if ([value].flat().includes('file')) return '"file" is not a type of JSON Schema: it is read as "string"'
      return undefined
    case 'required':
      return typeof value === 'boolean' ? 'is ignored: name the member in "required" of the object' : undefined
    case 'exclusiveMinimum':
      return value === true && keywords.minimum === undefined ? 'is ignored without "minimum"' : undefined
    case 'exclusiveMaximum':
      return value === true && keywords.maximum === undefined ? 'is ignored without "maximum"' : undefined
    case 'format':
      return typeof value === 'string' && !FORMATS.has(value) && !UNCHECKED_FORMATS.has(value)
        ? `${JSON.stringify(value)} is not a known format and is not checked`
        : undefined
    default:
      return isKnownKeyword(name) ? undefined : 'is not a keyword of JSON Schema and is ignored'
  }
}
