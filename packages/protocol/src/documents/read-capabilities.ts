import { asObjects, asString, asStrings, isObject, type JsonObject, type JsonValue } from '../json.js'
import type { Capability, DocumentFormat, Example, HttpMapping, Operation } from './record.js'

/** Name of the operation of an agent with top-level inputs and outputs (AIDIP §3.2). */
export const IMPLIED_OPERATION = 'invoke'

const ANYTHING: JsonObject = { type: 'object' }

/** The capabilities of an agent: strings, objects, or the skills of a card (C-10). */
export function readCapabilities(format: DocumentFormat, document: JsonObject): Capability[] {
  const declared = Array.isArray(document.capabilities) ? document.capabilities : []
  const fallbackType = format === 'descriptor' ? 'tool' : 'skill'
  return [
    ...declared.flatMap((item) => readCapability(item, fallbackType)),
    // The id of a skill identifies it; its name is a title.
    ...asObjects(document.skills).flatMap((skill) =>
      readCapability(skill, 'skill', asString(skill.id) || asString(skill.name)),
    ),
  ]
}

function readCapability(item: JsonValue, fallbackType: string, skillName?: string): Capability[] {
  if (typeof item === 'string') return item === '' ? [] : [{ name: item, type: fallbackType }]
  if (!isObject(item)) return []
  const name = skillName ?? asString(item.name)
  if (!name) return []
  const description = asString(item.description)
  const version = asString(item.version)
  const input = item.input_schema ?? item.inputs ?? item.input
  const output = item.output_schema ?? item.outputs ?? item.output
  return [
    {
      name,
      type: asString(item.type) ?? fallbackType,
      source: item,
      ...(description !== undefined && { description }),
      ...(version !== undefined && { version }),
      ...(Array.isArray(item.tags) && { tags: asStrings(item.tags) }),
      ...(isObject(input) && { input }),
      ...(isObject(output) && { output }),
    },
  ]
}

/** The operations of an agent: listed, top-level inputs and outputs, or capabilities in the other drafts (C-08). */
export function readOperations(
  format: DocumentFormat,
  document: JsonObject,
  capabilities: readonly Capability[],
): Operation[] {
  const listed = asObjects(document.operations).flatMap((item) => readOperation(item))
  if (listed.length > 0) return listed
  const inputs = document.inputs ?? document.input_schema
  const outputs = document.outputs ?? document.output_schema
  if (isObject(inputs) || isObject(outputs)) {
    return [
      {
        name: IMPLIED_OPERATION,
        inputs: isObject(inputs) ? inputs : ANYTHING,
        outputs: isObject(outputs) ? outputs : ANYTHING,
      },
    ]
  }
  if (format === 'aidip') return []
  return capabilities.map(({ name, description, input, output }) => ({
    name,
    ...(description !== undefined && { description }),
    inputs: input ?? ANYTHING,
    outputs: output ?? ANYTHING,
  }))
}

function readOperation(item: JsonObject): Operation[] {
  if (typeof item.name !== 'string' || item.name === '') return []
  const description = asString(item.description)
  const endpoint = asString(item.endpoint)
  const inputs = item.inputs ?? item.input_schema ?? item.input
  const outputs = item.outputs ?? item.output_schema ?? item.output
  return [
    {
      name: item.name,
      inputs: isObject(inputs) ? inputs : ANYTHING,
      outputs: isObject(outputs) ? outputs : ANYTHING,
      ...(description !== undefined && { description }),
      ...(endpoint !== undefined && { endpoint }),
      ...(Array.isArray(item.examples) && { examples: asObjects(item.examples) }),
      ...readHttp(item.http),
    },
  ]
}

/** The tags of an agent; in drafts that tag capabilities, the union of those too (C-17). */
export function readTags(format: DocumentFormat, document: JsonObject, capabilities: readonly Capability[]): string[] {
  const own = asStrings(document.tags)
  if (format === 'aidip' || format === 'profile') return own
  const ofCapabilities = capabilities.flatMap(({ tags }) => tags ?? [])
  return [...new Set([...own, ...ofCapabilities])]
}

/** Example tasks: the profile's examples, those of a card's skills, and the example inputs of operations. */
export function readExamples(document: JsonObject): Example[] {
  const listed = asObjects(document.examples).flatMap((source) => {
    const id = asString(source.id)
    const tags = Array.isArray(source.tags) ? asStrings(source.tags) : undefined
    return typeof source.text === 'string'
      ? [{ text: source.text, source, ...(id !== undefined && { id }), ...(tags && { tags }) }]
      : []
  })
  const ofSkills = asObjects(document.skills).flatMap((skill) => asStrings(skill.examples).map((text) => ({ text })))
  const ofOperations = asObjects(document.operations).flatMap((operation) =>
    asObjects(operation.examples).flatMap(({ input }) => {
      const text = isObject(input) ? asStrings(Object.values(input)).join(' ') : ''
      return text === '' ? [] : [{ text }]
    }),
  )
  return [...listed, ...ofSkills, ...ofOperations]
}

function readHttp(value: JsonValue | undefined): { http?: HttpMapping } {
  if (!isObject(value) || typeof value.method !== 'string' || typeof value.path !== 'string') return {}
  const { method, path, parameters, body, form, key } = value
  const places = isObject(parameters) ? Object.entries(parameters) : []
  return {
    http: {
      method,
      path,
      parameters: Object.fromEntries(places.map(([name, place]) => [name, String(place)])),
      ...(typeof body === 'string' && { body }),
      ...(form === true && { form }),
      ...(isObject(key) && { key: { place: String(key.place), name: String(key.name) } }),
    },
  }
}
