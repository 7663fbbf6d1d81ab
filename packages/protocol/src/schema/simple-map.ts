import { isObject, type JsonObject, type JsonValue } from '../json.js'

/** Types that a name→type map may give a member; a `?` after the word makes the member optional (C-09). */
export const TYPE_WORDS = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null', 'any', 'file'] as const

const KNOWN_WORDS: ReadonlySet<unknown> = new Set(TYPE_WORDS.flatMap((word) => [word, `${word}?`]))

/** Whether a description is a name→type map such as {"text":"string"}, not a JSON Schema (C-09). */
export function isSimpleMap(value: JsonObject): boolean {
  const names = Object.keys(value)
  if (names.length === 0 || (names.length === 1 && names[0] === 'type')) return false
  return names.every((name) => isTypeWord(value[name]))
}

/** Whether a member of a name→type map has a known type: one of `TYPE_WORDS`, with or without `?`. */
export const isTypeWord = (value: JsonValue | undefined): boolean => KNOWN_WORDS.has(value)

/** The JSON Schema of an input or output description; a simple map is converted to one. */
export function toJsonSchema(description: JsonValue | undefined): JsonObject {
  if (!isObject(description)) return {}
  if (!isSimpleMap(description)) return description
  const names = Object.keys(description)
  const wordOf = (name: string): string => String(description[name])
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, propertySchema(wordOf(name).replace('?', ''))])),
    required: names.filter((name) => !wordOf(name).endsWith('?')),
  }
}

function propertySchema(word: string): JsonObject {
  if (word === 'any') return {}
  // A file is sent as a URL or as base64 in JSON (01 §5.1).
  if (word === 'file') return { type: 'string' }
  return { type: word }
}
