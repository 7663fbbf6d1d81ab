import { isSimpleMap, isTypeWord, type JsonObject, type JsonValue, type TYPE_WORDS } from '@switchboard/protocol'

/**
 * JSON Schema keywords, to tell a schema from a map of names to types. Members that start with `$` or `x-` count as
 * keywords too.
 */
// biome-ignore format: grouped by what they apply to
const KEYWORDS = [
  'type', 'enum', 'const', 'nullable', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'definitions',
  'properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'required',
  'minProperties', 'maxProperties', 'dependencies', 'dependentRequired', 'dependentSchemas', 'discriminator',
  'items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains', 'minItems',
  'maxItems', 'uniqueItems',
  'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf',
  'minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType', 'contentSchema',
  'title', 'description', 'default', 'example', 'examples', 'deprecated', 'readOnly', 'writeOnly',
] as const

export type Keyword = (typeof KEYWORDS)[number] | `$${string}` | `x-${string}`

/** `'string'`, or `'string?'` for a member that may be missing. */
export type TypeWord = (typeof TYPE_WORDS)[number] | `${(typeof TYPE_WORDS)[number]}?`

const isKeyword = (name: string): boolean => /^(\$|x-)/.test(name) || KEYWORDS.some((keyword) => keyword === name)

/**
 * The first member of a map of names to types whose type is not known; undefined if all are, or if the description is a
 * JSON Schema. An object with members that are not keywords is a schema only if one of its keywords could not be a
 * member of a map: `{ properties: {}, note: '' }`, but not `{ title: 'string', pages: 'string[]' }`.
 */
export function unknownTypeMember(description: JsonObject): { name: string; type: JsonValue } | undefined {
  if (isSimpleMap(description)) return undefined
  const members = Object.entries(description)
  const isSchema = members.some(
    ([name, value]) => name.startsWith('$') || (isKeyword(name) && typeof value !== 'string'),
  )
  if (isSchema || members.every(([name]) => isKeyword(name))) return undefined
  const [name, type] = members.find(([, value]) => !isTypeWord(value)) ?? []
  return name === undefined || type === undefined ? undefined : { name, type }
}
