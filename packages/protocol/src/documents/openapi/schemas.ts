import { isObject, type JsonObject, type JsonValue, pointerToken, TooManyValues } from '../../json.js'
import { memberOf, pointerNames } from '../../schema/graph.js'
import { DOCUMENT_LIMITS } from '../schemas/parts.js'

/** Values of all converted schemas: definitions are repeated in every operation that uses them. */
const MAX_VALUES = DOCUMENT_LIMITS.values
const COMPONENTS = '#/components/schemas/'
/** Levels of a schema that are converted; publishers' schemas are not deeper. */
const MAX_DEPTH = 64

/** Converts the schemas of an OpenAPI document to JSON Schema 2020-12. */
export interface SchemaReader {
  /** The schema with its references as they are. */
  read(schema: JsonValue | undefined): JsonObject
  /** What a reference leads to, if the value is one. */
  resolve(value: JsonValue | undefined): JsonObject
  /** The definitions that a schema refers to, directly or not. */
  definitionsOf(schema: JsonObject): JsonObject
}

export function createSchemaReader(document: JsonObject): SchemaReader {
  const components = isObject(document.components) ? document.components : {}
  const schemas = isObject(components.schemas) ? components.schemas : {}

  const resolve = (value: JsonValue | undefined): JsonObject => {
    let found = value
    // A chain of references ends soon; a circle does not.
    for (let i = 0; i < MAX_DEPTH && isObject(found) && typeof found.$ref === 'string'; i++)
      found = at(document, found.$ref)
    return isObject(found) && typeof found.$ref !== 'string' ? found : {}
  }

  let converted = 0
  const count = (): void => {
    if (++converted > MAX_VALUES) throw new TooManyValues(MAX_VALUES)
  }

  const definitionsOf = (schema: JsonObject): JsonObject => {
    const definitions: JsonObject = {}
    const add = (value: JsonValue): void => {
      for (const name of referencesIn(value)) {
        if (Object.hasOwn(definitions, name) || !isObject(schemas[name])) continue
        const definition = convert(schemas[name], MAX_DEPTH, count)
        definitions[name] = definition
        add(definition)
      }
    }
    add(schema)
    return definitions
  }

  return { read: (schema) => asObject(convert(schema ?? {}, MAX_DEPTH, count)), resolve, definitionsOf }
}

const asObject = (value: JsonValue): JsonObject => (isObject(value) ? value : {})

/** The value at a reference within the document. */
function at(document: JsonObject, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#/')) return undefined
  return pointerNames(reference.slice(1)).reduce<JsonValue | undefined>(
    (value, name) => (value === undefined ? undefined : memberOf(value, name)),
    document,
  )
}

/** Names of the definitions that a converted schema refers to. */
function* referencesIn(value: JsonValue): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* referencesIn(item)
  if (!isObject(value)) return
  if (typeof value.$ref === 'string' && value.$ref.startsWith('#/$defs/'))
    yield* pointerNames(value.$ref.slice('#/$defs'.length))
  for (const member of Object.values(value)) if (member !== undefined) yield* referencesIn(member)
}

/** Members that OpenAPI adds to JSON Schema and that say nothing about a value. */
const DROPPED = new Set(['example', 'xml', 'externalDocs', 'discriminator', 'nullable'])

function convert(value: JsonValue, depth: number, count: () => void): JsonValue {
  count()
  if (depth === 0) return {}
  if (Array.isArray(value)) return value.map((item) => convert(item, depth - 1, count))
  if (!isObject(value)) return value
  const converted: JsonObject = {}
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || DROPPED.has(name)) continue
    converted[name] =
      name === 'enum' || name === 'const' || name === 'default' ? member : convert(member, depth - 1, count)
  }
  if (typeof value.$ref === 'string') converted.$ref = toDefinition(value.$ref)
  return value.nullable === true ||
    typeof value.exclusiveMinimum === 'boolean' ||
    typeof value.exclusiveMaximum === 'boolean'
    ? fromVersion30(converted, value)
    : converted
}

const toDefinition = (reference: string): string =>
  reference.startsWith(COMPONENTS)
    ? `#/$defs/${pointerNames(reference.slice(COMPONENTS.length - 1))
        .map(pointerToken)
        .join('/')}`
    : reference

/** `nullable` and boolean limits exist in OpenAPI 3.0 only. */
function fromVersion30(
  converted: JsonObject,
  { nullable, exclusiveMinimum, exclusiveMaximum }: JsonObject,
): JsonObject {
  const { minimum, maximum, exclusiveMinimum: _min, exclusiveMaximum: _max, ...rest } = converted
  return {
    ...rest,
    ...(minimum !== undefined && { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum !== undefined && { [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: maximum }),
    ...(nullable === true && typeof rest.type === 'string' && { type: [rest.type, 'null'] }),
  }
}
