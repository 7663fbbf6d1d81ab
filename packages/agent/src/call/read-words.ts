import { isObject, type JsonObject, type JsonValue, toJsonSchema } from '@switchboard/protocol'
import { type Capability, hasMember } from '../capability.js'
import { AgentError, invalidInput } from '../errors.js'

/** Identifiers travel in headers, which may be long. */
const TOKEN = /^[\x21-\x7e]{1,256}$/

/** The one value that was given, wherever; 400 where two places differ, for a silent choice would be a wrong one (C-63). */
export function agree(name: string, ...places: readonly (string | null | undefined)[]): string | undefined {
  const [first, ...others] = places.filter((place) => typeof place === 'string')
  if (first === undefined) return undefined
  const other = others.find((place) => place !== first)
  if (other !== undefined) {
    throw invalidInput([{ at: name, message: `is given as "${cut(first)}" and as "${cut(other)}": say it once` }])
  }
  if (!TOKEN.test(first)) throw invalidInput([{ at: name, message: 'must be 1 to 256 visible ASCII characters' }])
  return first
}

const cut = (text: string): string => text.slice(0, 100)

/**
 * Takes words of the call itself (stream, sessionId …) out of an input, unless the capability has a member of that name:
 * then it is the input's.
 */
export function takeWords(
  capability: Capability,
  input: JsonValue,
  names: readonly string[],
): { words: JsonObject; input: JsonValue } {
  if (!isObject(input)) return { words: {}, input }
  const words: JsonObject = {}
  const rest = { ...input }
  for (const name of names) {
    const word = Object.hasOwn(rest, name) ? rest[name] : undefined
    if (word === undefined || hasMember(capability, name)) continue
    words[name] = word
    delete rest[name]
  }
  return { words, input: rest }
}

/** The capability that is meant: the path names it, or the member `operation` does, or there is only one (C-58). */
export function chooseCapability(
  capabilities: ReadonlyMap<string, Capability>,
  inPath: string | undefined,
  input: JsonValue,
): { capability: Capability; input: JsonValue } {
  const [only] = capabilities.size === 1 ? capabilities.values() : []
  const named = inPath === undefined ? only : capabilities.get(inPath)
  const names = Array.from(capabilities.keys(), (name) => `"${name}"`)
    .slice(0, 50)
    .join(', ')
  if (inPath !== undefined && !named) {
    throw new AgentError('capability_not_found', `The requested capability '${cut(inPath)}' was not found.`, {
      members: { capabilities: [...capabilities.keys()].slice(0, 50) },
    })
  }
  const member = isObject(input) && Object.hasOwn(input, 'operation') ? input.operation : undefined
  if (named) {
    if (member === undefined || hasMember(named, 'operation')) return { capability: named, input }
    if (member !== named.name) {
      throw invalidInput([{ at: '/operation', message: `must be "${named.name}", or be left out` }])
    }
    return { capability: named, input: without(input, 'operation') }
  }
  if (member === undefined) throw invalidInput([{ at: '/operation', message: `is required: one of ${names}` }])
  const chosen = typeof member === 'string' ? capabilities.get(member) : undefined
  if (!chosen) throw new AgentError('capability_not_found', `/operation must be one of ${names}`)
  return { capability: chosen, input: without(input, 'operation') }
}

function without(input: JsonValue, name: string): JsonValue {
  if (!isObject(input)) return input
  const { [name]: _taken, ...rest } = input
  return rest
}

/** The input that a query stands for, in the types that the schema wants; what it cannot be stays text, to be judged. */
export function fromQuery(capability: Capability, query: URLSearchParams): JsonObject {
  const { properties } = toJsonSchema(capability.input)
  const names = [...new Set(query.keys())].filter((name) => name !== '__proto__')
  return Object.fromEntries(
    names.map((name) => {
      const schema = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
      const type = isObject(schema) ? schema.type : undefined
      const values = query.getAll(name)
      const [first = ''] = values
      return [name, type === 'array' || values.length > 1 ? values : toTyped(first, type)]
    }),
  )
}

function toTyped(text: string, type: JsonValue | undefined): JsonValue {
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  if ((type === 'number' || type === 'integer') && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text)
  return text
}
