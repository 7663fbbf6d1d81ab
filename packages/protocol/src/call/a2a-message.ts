import { asObjects, asString, isObject, type JsonObject, type JsonValue, parseJson } from '../json.js'
import { toJsonSchema } from '../schema/index.js'

/** Input members that usually hold free text. */
const TEXT_MEMBERS = ['text', 'query', 'prompt', 'message', 'question', 'content', 'input']

/** The skill that an A2A message is for, if it names one. A2A has no member for it, so clients use metadata. */
export function skillOfMessage({ metadata }: JsonObject): string | undefined {
  if (!isObject(metadata)) return undefined
  return asString(metadata.skillId) ?? asString(metadata.skill) ?? asString(metadata.operation)
}

/**
 * The input in an A2A message of version 1.0: its data part, or else its text in a member that takes text. Undefined if it
 * has neither.
 *
 * @param schema of the input of the skill
 */
export function inputOfMessage(message: JsonObject, schema: JsonObject): JsonValue | undefined {
  const parts = asObjects(message.parts)
  const data = parts.find((part) => part.data !== undefined)?.data
  if (data !== undefined) return data
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  return texts.length === 0 ? undefined : fromText(texts.join('\n'), schema)
}

/** A value as a part of an A2A message of version 1.0. */
export const toMessagePart = (value: JsonValue): JsonObject =>
  typeof value === 'string' ? { text: value } : { data: value, mediaType: 'application/json' }

function fromText(text: string, schema: JsonObject): JsonValue {
  const { type, properties, required } = toJsonSchema(schema)
  if (type === 'string') return text
  const asObject = tryObject(text)
  if (asObject) return asObject
  const isText = (name: string): boolean => {
    const member = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
    return isObject(member) && member.type === 'string'
  }
  const wanted = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  const member =
    wanted.length === 1 && wanted[0] !== undefined && isText(wanted[0]) ? wanted[0] : TEXT_MEMBERS.find(isText)
  return { [member ?? 'text']: text }
}

/** Parses text that is a JSON object. */
function tryObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
