import { isObject, type JsonObject, type JsonValue, pointerToken } from '../json.js'

/**
 * What a keyword applies its subschemas to. `branch`: the same value; `below`: parts of the value that no other keyword
 * applies to; `beside`: parts that other keywords may apply to as well; `never`: nothing, only references use them.
 */
export type Application = 'branch' | 'below' | 'beside' | 'never'

/** Keywords with subschemas: those of 2020-12, and `dependencies` and tuples of older drafts. */
export const APPLICATORS: ReadonlyMap<string, Application> = new Map([
  ['allOf', 'branch'],
  ['anyOf', 'branch'],
  ['oneOf', 'branch'],
  ['not', 'branch'],
  ['if', 'branch'],
  ['then', 'branch'],
  ['else', 'branch'],
  ['dependentSchemas', 'branch'],
  ['dependencies', 'branch'],
  ['properties', 'below'],
  ['additionalProperties', 'below'],
  ['propertyNames', 'below'],
  ['prefixItems', 'below'],
  ['items', 'below'],
  ['additionalItems', 'below'],
  ['patternProperties', 'beside'],
  ['unevaluatedProperties', 'beside'],
  ['unevaluatedItems', 'beside'],
  ['contains', 'beside'],
  ['$defs', 'never'],
  ['definitions', 'never'],
])

/** Keywords whose value maps names to subschemas; the others have one subschema, or a list. */
export const NAMED: ReadonlySet<string> = new Set([
  'dependentSchemas',
  'dependencies',
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
])

/** Whether `$schema` names draft-07 or an older one; without `$schema`, a schema is read as 2020-12. */
export const isDraft7 = ({ $schema }: JsonObject): boolean =>
  typeof $schema === 'string' && /draft-0[3-7]/.test($schema)

/** The types of JSON Schema, and two words that people use: `any` from draft-03, `file` from Swagger 2. */
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null', 'any', 'file']

/** Where the value of a keyword is wrong (a JSON pointer from the keyword), and what it must be. */
type Mistake = readonly [at: string, expected: string]
type Rule = (value: JsonValue) => Mistake | undefined

const rule =
  (expected: string, fits: (value: JsonValue) => boolean): Rule =>
  (value) =>
    fits(value) ? undefined : ['', expected]

const either =
  (first: Rule, second: Rule): Rule =>
  (value) =>
    first(value) && second(value)

const isCount = (value: JsonValue): boolean => typeof value === 'number' && Number.isInteger(value) && value >= 0
const isNameList = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

const schema = rule(
  'must be a schema: an object or a boolean',
  (value) => isObject(value) || typeof value === 'boolean',
)
const names = rule('must be a list of names', isNameList)
const number = rule('must be a number', (value) => typeof value === 'number')
const count = rule('must be a whole number, 0 or more', isCount)
const text = rule('must be a string', (value) => typeof value === 'string')
const boolean = rule('must be true or false', (value) => typeof value === 'boolean')
const type = rule(`must be one of ${TYPES.slice(0, 7).join(', ')}, or a list of these`, (value) =>
  Array.isArray(value)
    ? value.length > 0 && value.every((item) => typeof item === 'string' && TYPES.includes(item))
    : typeof value === 'string' && TYPES.includes(value),
)

const listOf =
  (item: Rule, expected: string, minimum = 0): Rule =>
  (value) =>
    Array.isArray(value) && value.length >= minimum ? firstMistake(Object.entries(value), item) : ['', expected]

/** An empty list counts as an empty map: PHP serializes empty maps so. */
const mapOf =
  (item: Rule, expected: string): Rule =>
  (value) => {
    if (isObject(value)) return firstMistake(Object.entries(value), item)
    return Array.isArray(value) && value.length === 0 ? undefined : ['', expected]
  }

function firstMistake(entries: [string, JsonValue][], item: Rule): Mistake | undefined {
  for (const [name, value] of entries) {
    const mistake = item(value)
    if (mistake) return [`/${pointerToken(name)}${mistake[0]}`, mistake[1]]
  }
  return undefined
}

const schemas = listOf(schema, 'must be a list of schemas')
const someSchemas = listOf(schema, 'must be a list of schemas, and not empty', 1)
const namedSchemas = mapOf(schema, 'must be an object of names and schemas')

/**
 * The allowed values of keywords. These are the rules of the meta-schemas, relaxed where the checker understands more:
 * booleans of draft-04 (`exclusiveMinimum: true`), `required: true` of draft-03, tuples in `items`. Annotations may
 * have any value.
 */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['$id', text],
  ['$ref', text],
  ['$anchor', text],
  ['$dynamicAnchor', text],
  ['$defs', namedSchemas],
  ['definitions', namedSchemas],
  ['type', type],
  ['enum', rule('must be a list of values', Array.isArray)],
  ['multipleOf', rule('must be a number above 0', (value) => typeof value === 'number' && value > 0)],
  ['maximum', number],
  ['minimum', number],
  ['exclusiveMaximum', either(boolean, number)],
  ['exclusiveMinimum', either(boolean, number)],
  ['maxLength', count],
  ['minLength', count],
  ['pattern', text],
  ['maxItems', count],
  ['minItems', count],
  ['uniqueItems', boolean],
  ['maxContains', count],
  ['minContains', count],
  ['maxProperties', count],
  ['minProperties', count],
  ['required', either(boolean, names)],
  ['dependentRequired', mapOf(names, 'must be an object of names and lists of names')],
  ['allOf', schemas],
  ['anyOf', someSchemas],
  ['oneOf', someSchemas],
  ['not', schema],
  ['if', schema],
  ['then', schema],
  ['else', schema],
  ['properties', namedSchemas],
  ['patternProperties', namedSchemas],
  ['additionalProperties', schema],
  ['propertyNames', schema],
  ['unevaluatedProperties', schema],
  ['dependentSchemas', namedSchemas],
  ['dependencies', mapOf(either(names, schema), 'must be an object of names, and schemas or lists of names')],
  ['prefixItems', schemas],
  ['items', either(schemas, schema)],
  ['additionalItems', schema],
  ['contains', schema],
  ['unevaluatedItems', schema],
])

/** Annotations of JSON Schema and OpenAPI, keywords for tools, and those with a rule elsewhere. */
const ANNOTATIONS = new Set(
  `$schema $comment $vocabulary id const format title description default example examples deprecated readOnly writeOnly
  contentEncoding contentMediaType contentSchema nullable discriminator xml externalDocs enumNames enumDescriptions
  propertyOrdering collectionFormat components`.split(/\s+/),
)

/** Whether the keyword restricts values: neither an annotation nor an identifier nor unknown. */
export const isRestriction = (name: string): boolean =>
  RULES.has(name) && !name.startsWith('$') && name !== 'definitions'

/** Whether the checker, or JSON Schema, knows the keyword. Names with `x-` are extensions. */
export const isKnownKeyword = (name: string): boolean =>
  RULES.has(name) || ANNOTATIONS.has(name) || name.startsWith('x-')

/** The first keyword whose value JSON Schema does not allow; `at` is a JSON pointer from the schema. */
export function findMistake(keywords: JsonObject): { at: string; expected: string } | undefined {
  for (const [name, value] of Object.entries(keywords)) {
    const mistake = RULES.get(name)?.(value)
    if (mistake) return { at: `/${name}${mistake[0]}`, expected: mistake[1] }
  }
  return undefined
}
