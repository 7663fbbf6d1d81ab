import { isObject, type JsonObject } from '../json.js'

const MEMBERS = ['inputs', 'outputs', 'input_schema', 'output_schema', 'input', 'output']
const LISTS = ['operations', 'capabilities', 'skills', 'examples']

/** The JSON Schemas in a document of any draft, each with its JSON pointer. */
export function* publishedSchemas(document: JsonObject): Generator<{ schema: JsonObject; at: string }> {
  yield* schemasOf(document, '')
  for (const name of LISTS) {
    const list = document[name]
    if (!Array.isArray(list)) continue
    for (const [i, item] of list.entries()) {
      if (isObject(item)) yield* schemasOf(item, `/${name}/${i}`, name === 'examples')
    }
  }
}

function* schemasOf(value: JsonObject, at: string, isExample = false): Generator<{ schema: JsonObject; at: string }> {
  for (const name of MEMBERS) {
    const schema = value[name]
    // The `input` and `output` of an example are values, not schemas.
    if (isObject(schema) && !(isExample && (name === 'input' || name === 'output')))
      yield { schema, at: `${at}/${name}` }
  }
}
