import { type AgentRecord, IMPLIED_OPERATION, isObject, type JsonValue, toJsonSchema } from '@switchboard/protocol'
import type { RecordGloss } from '../lexicon/gloss-record.js'

/** Text fields of an agent, each with its own weight (`FIELD_WEIGHT`). */
export const FIELDS = ['title', 'description', 'schema', 'example', 'gloss'] as const
export type Field = (typeof FIELDS)[number]

/** The searchable texts of an agent, by field. */
export type TextFields = Readonly<Record<Field, readonly string[]>>

/** Deeper schema levels are ignored: they do not help to tell agents apart. */
const MAX_SCHEMA_DEPTH = 5

/** The searchable texts of a record. Duplicates within a field, such as an operation listed as a capability, are dropped. */
export function textFieldsOf({ name, description, tags, capabilities, operations, examples }: AgentRecord): TextFields {
  const title = new Set([name, ...tags])
  const descriptions = new Set([description])
  const schema = new Set<string>()
  for (const capability of capabilities) {
    title.add(capability.name)
    if (capability.description !== undefined) descriptions.add(capability.description)
  }
  for (const operation of operations) {
    addSchemaTexts(operation.inputs, schema)
    addSchemaTexts(operation.outputs, schema)
    if (operation.name === IMPLIED_OPERATION) continue
    title.add(operation.name)
    if (operation.description !== undefined) descriptions.add(operation.description)
  }
  for (const { input, output } of capabilities) {
    addSchemaTexts(input, schema)
    addSchemaTexts(output, schema)
  }
  const example = new Set(examples.map(({ text }) => text))
  return {
    title: nonEmpty(title),
    description: nonEmpty(descriptions),
    schema: nonEmpty(schema),
    example: nonEmpty(example),
    gloss: [],
  }
}

/** Adds what the texts of a record that is not described in English mean. */
export const withGloss = (fields: TextFields, { meanings }: RecordGloss): TextFields => ({
  ...fields,
  gloss: nonEmpty(new Set([...fields.title, ...fields.description].map(meanings))),
})

function nonEmpty(texts: Set<string>): string[] {
  texts.delete('')
  return [...texts]
}

const addSchemaTexts = (schema: JsonValue | undefined, texts: Set<string>): void => {
  if (schema !== undefined) addPropertyTexts(toJsonSchema(schema), 0, texts)
}

/** Adds the names and descriptions of a schema's properties. */
function addPropertyTexts(schema: JsonValue | undefined, depth: number, texts: Set<string>): void {
  if (!isObject(schema) || depth >= MAX_SCHEMA_DEPTH) return
  const { properties, items } = schema
  if (isObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      texts.add(name)
      if (isObject(property) && typeof property.description === 'string') texts.add(property.description)
      addPropertyTexts(property, depth + 1, texts)
    }
  }
  addPropertyTexts(items, depth + 1, texts)
}
