import { type AgentRecord, IMPLIED_OPERATION, isObject, type JsonValue, toJsonSchema } from '@switchboard/protocol'

/** Where a word of an agent stands; each place counts by its own weight. */
export const FIELDS = ['title', 'description', 'schema', 'example'] as const
export type Field = (typeof FIELDS)[number]

/** The searchable texts of an agent, by place. */
export type TextFields = Readonly<Record<Field, readonly string[]>>

/** Schemas may nest without end; what lies deeper does not tell agents apart. */
const MAX_SCHEMA_DEPTH = 5

/** All texts of a record that words are looked for in; each is given once, however many drafts' views repeat it. */
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
  return { title: said(title), description: said(descriptions), schema: said(schema), example: said(example) }
}

function said(texts: Set<string>): string[] {
  texts.delete('')
  return [...texts]
}

const addSchemaTexts = (description: JsonValue | undefined, texts: Set<string>): void => {
  if (description !== undefined) addPropertyTexts(toJsonSchema(description), 0, texts)
}

/** Names and descriptions of the properties of a schema. */
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
