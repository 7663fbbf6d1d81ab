import { asString, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { strings } from '../../../strings.js'
import { type Field, toField, toLabel, typeOf } from './field.js'

const { schema: words } = strings

/** One line of a schema as a table. */
export interface SchemaRow {
  /** Names from the outermost member inwards; `[]` stands for the items of an array. */
  readonly path: readonly string[]
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
  /** Limits, allowed values and the default, such as `1 to 10`. */
  readonly limits: readonly string[]
}

/** Rows and levels that are shown of one schema; recursive ones have no end. */
const MAX_ROWS = 200
const MAX_LEVELS = 6

/** The members of a schema in the order in which they are read, nested ones after their parent. */
export function toSchemaRows(schema: JsonObject): SchemaRow[] {
  const rows: SchemaRow[] = []
  const visit = (place: JsonValue | undefined, path: readonly string[], isRequired: boolean): void => {
    if (rows.length >= MAX_ROWS) return
    const field = toField(place, schema)
    if (path.length > 0) {
      rows.push({
        path,
        type: describeType(field, schema),
        isRequired,
        description: asString(field.schema.description) ?? asString(field.schema.title) ?? '',
        limits: describeLimits(field),
      })
    }
    if (path.length < MAX_LEVELS) visitParts(field, path)
  }
  const visitParts = (field: Field, path: readonly string[]): void => {
    if (field.kind === 'object') {
      for (const { name, schema: member, isRequired } of field.members) visit(member, [...path, name], isRequired)
    } else if (field.kind === 'array') {
      const item = toField(field.items, schema)
      if (path.length === 0 || item.kind === 'choice') visit(field.items, [...path, '[]'], false)
      else visitParts(item, [...path, '[]'])
    } else if (field.kind === 'choice') {
      for (const alternative of field.alternatives) {
        const part = toField(alternative.schema, schema)
        if (part.kind === 'object') visit(alternative.schema, [...path, `(${alternative.label})`], false)
      }
    }
  }
  visit(schema, [], false)
  // A schema of a single value has no members: its own line says what it is.
  if (rows.length === 0 && Object.keys(schema).length > 0 && toField(schema, schema).kind !== 'json')
    visit({ ...schema }, [words.value], true)
  return rows
}

function describeType(field: Field, root: JsonObject): string {
  return [plainType(field, root), ...(field.isNullable ? ['null'] : [])].join(words.or)
}

function plainType(field: Field, root: JsonObject): string {
  switch (field.kind) {
    case 'array': {
      const item = toField(field.items, root)
      const isAnything = item.kind === 'json' && typeOf(item.schema) === undefined
      return isAnything ? 'array' : words.arrayOf(plainType(item, root))
    }
    case 'choice':
      return [...new Set(field.alternatives.map(({ schema }) => typeOf(schema) ?? words.any))].join(words.or)
    case 'number':
      return field.isInteger ? 'integer' : 'number'
    case 'file':
      return words.file
    case 'text':
      return 'string'
    case 'enum':
    case 'constant':
      return typeOf(field.schema) ?? 'string'
    default:
      return typeOf(field.schema) ?? words.any
  }
}

/** What else a value has to be, in the short words of a table. */
export function describeLimits(field: Field): string[] {
  const { schema } = field
  const length = rangeOf(schema.minLength, schema.maxLength)
  const count = rangeOf(schema.minItems, schema.maxItems)
  const said = [
    rangeOf(schema.minimum ?? schema.exclusiveMinimum, schema.maximum ?? schema.exclusiveMaximum),
    length && words.characters(length),
    count && words.items(count),
    schema.multipleOf === undefined ? undefined : words.multipleOf(toLabel(schema.multipleOf)),
    asString(schema.format),
    asString(schema.contentMediaType),
    schema.pattern === undefined ? undefined : words.pattern(toLabel(schema.pattern)),
    field.kind === 'enum' ? words.oneOf(field.options.map(({ label }) => label).join(', ')) : undefined,
    field.kind === 'constant' ? words.always(toLabel(field.value)) : undefined,
    schema.default === undefined ? undefined : words.preset(toLabel(schema.default)),
  ]
  return said.filter((text) => text !== undefined)
}

function rangeOf(min: JsonValue | undefined, max: JsonValue | undefined): string | undefined {
  if (typeof min === 'number' && typeof max === 'number') return words.between(min, max)
  if (typeof min === 'number') return words.atLeast(min)
  return typeof max === 'number' ? words.atMost(max) : undefined
}
