import { asString, asStrings, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { isSimpleMap, toJsonSchema } from '@switchboard/protocol/schema'
import { mergeSchemas, resolveSchema } from './resolve-schema.js'

/** A member of an object in a form. */
export interface Member {
  readonly name: string
  readonly schema: JsonValue
  readonly isRequired: boolean
}

/** One way to fill in a value that allows several. */
export interface Alternative {
  readonly label: string
  readonly schema: JsonObject
}

/** How a value is filled in. Schemas inside are resolved when they are shown, because they may be recursive. */
export type Field = { readonly schema: JsonObject; readonly isNullable: boolean } & (
  | { readonly kind: 'object'; readonly members: readonly Member[] }
  | { readonly kind: 'array'; readonly items: JsonValue; readonly min: number; readonly max: number }
  | { readonly kind: 'choice'; readonly alternatives: readonly Alternative[] }
  | { readonly kind: 'enum'; readonly options: readonly { readonly label: string; readonly value: JsonValue }[] }
  | { readonly kind: 'constant'; readonly value: JsonValue }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  /** `rows`: lines of an area that grows; 0: a single line. */
  | { readonly kind: 'text'; readonly inputType: string; readonly rows: number }
  | { readonly kind: 'file'; readonly accept: string | undefined; readonly asDataUrl: boolean }
  /** Anything else is written as JSON. */
  | { readonly kind: 'json' }
)

/** Texts that may be longer than this get more room. */
const LONG_TEXT = 200
const LONG_ROWS = 3

/** The JSON Schema of an input or output description. The word `file` of a simple map stays recognizable. */
export function toFormSchema(description: JsonObject): JsonObject {
  const schema = toJsonSchema(description)
  if (!isSimpleMap(description) || !isObject(schema.properties)) return schema
  const properties = Object.entries(schema.properties).map(([name, property]) =>
    /^file\??$/.test(String(description[name]))
      ? [name, { type: 'string', contentEncoding: 'base64' }]
      : [name, property],
  )
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** Decides how a place of a schema is filled in. */
export function toField(place: JsonValue | undefined, root: JsonObject): Field {
  const resolved = resolveSchema(place, root)
  const { schema, isNullable } = withoutNull(resolved, root)
  const common = { schema, isNullable }
  if (schema.const !== undefined) return { ...common, kind: 'constant', value: schema.const }
  if (Array.isArray(schema.enum)) {
    return { ...common, kind: 'enum', options: schema.enum.map((value) => ({ label: toLabel(value), value })) }
  }
  const alternatives = alternativesOf(schema, root)
  if (alternatives.length > 1) return toChoice(common, alternatives)
  return { ...common, ...ofType(alternatives[0]?.schema ?? schema) }
}

type Kind<F = Field> = F extends Field ? Omit<F, 'schema' | 'isNullable'> : never

function ofType(schema: JsonObject): Kind {
  switch (typeOf(schema)) {
    case 'object': {
      const required = asStrings(schema.required)
      const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
      if (properties.length === 0) return { kind: 'json' }
      const members = properties.map(([name, member]) => ({
        name,
        schema: member,
        isRequired: required.includes(name),
      }))
      return { kind: 'object', members }
    }
    case 'array':
      return Array.isArray(schema.items) || schema.prefixItems !== undefined
        ? { kind: 'json' }
        : { kind: 'array', items: schema.items ?? {}, min: countOf(schema.minItems, 0), max: countOf(schema.maxItems) }
    case 'boolean':
      return { kind: 'boolean' }
    case 'number':
    case 'integer':
      return { kind: 'number', isInteger: schema.type === 'integer' }
    case 'string':
      return ofString(schema)
    default:
      return { kind: 'json' }
  }
}

const INPUT_TYPES = new Map([
  ['email', 'email'],
  ['uri', 'url'],
  ['url', 'url'],
  ['date', 'date'],
  ['password', 'password'],
])

function ofString({ format, pattern, contentEncoding, contentMediaType, maxLength }: JsonObject): Kind {
  const isDataUrl = format === 'data-url' || format === 'data-uri'
  if (contentEncoding === 'base64' || format === 'byte' || format === 'binary' || isDataUrl) {
    return { kind: 'file', accept: asString(contentMediaType), asDataUrl: isDataUrl }
  }
  const inputType = INPUT_TYPES.get(String(format)) ?? 'text'
  const isShort = format !== undefined || pattern !== undefined || countOf(maxLength) <= LONG_TEXT
  return { kind: 'text', inputType, rows: isShort ? 0 : maxLength === undefined ? 1 : LONG_ROWS }
}

const countOf = (value: JsonValue | undefined, fallback = Number.POSITIVE_INFINITY): number =>
  typeof value === 'number' ? value : fallback

/** The type of a schema; if it names none, the one that its keywords are about. */
export function typeOf(schema: JsonObject): string | undefined {
  if (schema.type === 'file') return 'string'
  if (typeof schema.type === 'string') return schema.type
  if (schema.properties !== undefined || schema.required !== undefined) return 'object'
  if (schema.items !== undefined) return 'array'
  if (schema.pattern !== undefined || schema.format !== undefined || schema.contentEncoding !== undefined)
    return 'string'
  if (schema.minimum !== undefined || schema.maximum !== undefined) return 'number'
  return undefined
}

/** The schema without the possibility of `null`, which a form expresses by leaving the value out. */
function withoutNull(schema: JsonObject, root: JsonObject): { schema: JsonObject; isNullable: boolean } {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const options = schema[keyword]
    if (!Array.isArray(options)) continue
    const rest = options.filter((option) => resolveSchema(option, root).type !== 'null')
    if (rest.length < options.length) return { schema: { ...schema, [keyword]: rest }, isNullable: true }
  }
  if (!Array.isArray(schema.type)) return { schema, isNullable: schema.nullable === true }
  const types = schema.type.filter((type) => type !== 'null')
  return {
    schema: { ...schema, type: types.length === 1 ? (types[0] ?? types) : types },
    isNullable: types.length < schema.type.length,
  }
}

function alternativesOf(schema: JsonObject, root: JsonObject): Alternative[] {
  for (const keyword of ['oneOf', 'anyOf'] as const) {
    const { [keyword]: options, ...base } = schema
    // `anyOf` with nothing but requirements says which members go together; it is no choice of a shape.
    if (!Array.isArray(options) || options.length === 0 || options.every(isRequirement)) continue
    return options.map((option, index) => {
      const resolved = resolveSchema(option, root)
      return { label: labelOf(resolved, index), schema: mergeSchemas([base, resolved]) }
    })
  }
  if (!Array.isArray(schema.type)) return []
  return asStrings(schema.type).map((type) => ({ label: type, schema: { ...schema, type } }))
}

const isRequirement = (option: JsonValue): boolean =>
  isObject(option) && Object.keys(option).every((name) => name === 'required')

function toChoice(common: Pick<Field, 'schema' | 'isNullable'>, alternatives: readonly Alternative[]): Field {
  const constants = alternatives.flatMap(({ label, schema }) =>
    schema.const === undefined ? [] : [{ label: asString(schema.title) ?? label, value: schema.const }],
  )
  if (constants.length === alternatives.length) return { ...common, kind: 'enum', options: constants }
  return { ...common, kind: 'choice', alternatives }
}

/** What an alternative is called: its title, the member that tells it apart, its members or its type. */
function labelOf(schema: JsonObject, index: number): string {
  if (typeof schema.title === 'string') return schema.title
  if (schema.const !== undefined) return toLabel(schema.const)
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const marked = properties.find(([, property]) => isObject(property) && property.const !== undefined)
  if (marked && isObject(marked[1])) return toLabel(marked[1].const ?? null)
  if (properties.length > 0)
    return properties
      .map(([name]) => name)
      .slice(0, 3)
      .join(', ')
  return typeOf(schema) ?? String(index + 1)
}

export const toLabel = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))
