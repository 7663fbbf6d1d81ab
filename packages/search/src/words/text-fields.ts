import {
  type AgentRecord,
  IMPLIED_OPERATION,
  isObject,
  type JsonObject,
  type JsonValue,
  toJsonSchema,
} from '@switchboard/protocol'

/** Where a word of an agent stands; each place counts by its own weight. */
export const FIELDS = ['title', 'description', 'schema', 'example'] as const
export type Field = (typeof FIELDS)[number]

/** The searchable texts of an agent, by place. */
export type TextFields = Readonly<Record<Field, readonly string[]>>

/** Schemas may nest without end; what lies deeper does not tell agents apart. */
const MAX_SCHEMA_DEPTH = 5

/** All texts of a record that words are looked for in; each is given once, however many drafts' views repeat it. */
export function textFieldsOf(record: AgentRecord): TextFields {
  const operations = record.operations.filter(({ name }) => name !== IMPLIED_OPERATION)
  const parts = [...record.capabilities, ...operations]
  const schemas = [
    ...record.operations.flatMap(({ inputs, outputs }) => [inputs, outputs]),
    ...record.capabilities.flatMap(({ input, output }) => [input, output]),
  ]
  return {
    title: unique([record.name, ...record.tags, ...parts.map(({ name }) => name)]),
    description: unique([record.description, ...parts.map(({ description }) => description ?? '')]),
    schema: unique(schemas.flatMap((schema) => [...schemaTexts(toJsonSchema(schema), 0)])),
    example: unique(record.examples.map(({ text }) => text)),
  }
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].filter((text) => text !== '')

/** Names and descriptions of the properties of a schema. */
function* schemaTexts(schema: JsonValue | undefined, depth: number): Generator<string> {
  if (!isObject(schema) || depth >= MAX_SCHEMA_DEPTH) return
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    yield name
    if (isObject(property) && typeof property.description === 'string') yield property.description
    yield* schemaTexts(property, depth + 1)
  }
  yield* schemaTexts(schema.items, depth + 1)
}

const propertiesOf = (schema: JsonObject): JsonObject => (isObject(schema.properties) ? schema.properties : {})
