import {
  asObjects,
  asString,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  toJsonSchema,
} from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import { invalidInput } from '../errors.js'

/** Input members that usually hold free text. */
const TEXT_MEMBERS = ['text', 'query', 'prompt', 'message', 'question', 'content', 'input']

/** The skill that a message is for. A2A has no member for it, so clients use metadata; with one skill it is optional. */
export function skillOf(message: JsonObject, capabilities: ReadonlyMap<string, Capability>): Capability {
  const metadata = isObject(message.metadata) ? message.metadata : {}
  const named = asString(metadata.skillId) ?? asString(metadata.skill) ?? asString(metadata.operation)
  const [only] = capabilities.size === 1 ? capabilities.values() : []
  const chosen = named === undefined ? only : capabilities.get(named)
  if (chosen) return chosen
  const names = Array.from(capabilities.keys(), (name) => `"${name}"`)
    .slice(0, 50)
    .join(', ')
  throw invalidInput([{ at: '/metadata/skillId', message: `must be one of ${names}` }])
}

/** The input in a message: its data part, or else its text in a member that takes text. */
export function inputOf(message: JsonObject, capability: Capability): JsonValue {
  const parts = asObjects(message.parts)
  const data = parts.find((part) => part.data !== undefined)?.data
  if (data !== undefined) return data
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  if (texts.length === 0) {
    throw invalidInput([{ at: '/parts', message: 'must hold a data part with the input, or a text part' }])
  }
  return fromText(texts.join('\n'), capability)
}

function fromText(text: string, { input }: Capability): JsonValue {
  const { type, properties, required } = toJsonSchema(input)
  if (type === 'string') return text
  const asObject = tryObject(text)
  if (asObject) return asObject
  const isText = (name: string): boolean => {
    const schema = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
    return isObject(schema) && schema.type === 'string'
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
