import {
  type AgentRecord,
  asString,
  asStrings,
  isObject,
  type JsonObject,
  type JsonValue,
  type Operation,
} from '@switchboard/protocol'

/** What else the publisher says of an operation: its own item, then the document around it. */
export function sourcesOf({ document }: AgentRecord, { name }: Operation): JsonObject[] {
  for (const list of [document.operations, document.capabilities, document.skills]) {
    for (const item of Array.isArray(list) ? list : []) {
      if (isObject(item) && (item.name === name || item.id === name)) return [item, document]
    }
  }
  return [document]
}

/** Media types beside JSON that an operation lists for its input or output (AURI §7, C-26). */
export function mediaTypesOf(record: AgentRecord, operation: Operation, side: 'input' | 'output'): string[] {
  const { contentMediaType } = side === 'input' ? operation.inputs : operation.outputs
  const listed = sourcesOf(record, operation).flatMap((source) => {
    const { contentTypes, media_types: mediaTypes } = source
    return [
      ...typesIn(source[`${side}Formats`] ?? source[`${side}_formats`]),
      ...(isObject(contentTypes) ? typesIn(contentTypes[`${side}Format`] ?? contentTypes[`${side}Formats`]) : []),
      ...(isObject(mediaTypes) ? typesIn(mediaTypes[side] ?? mediaTypes[`${side}s`]) : []),
    ]
  })
  // `contentMediaType` beside `contentEncoding` speaks of text inside JSON.
  const whole = asString(contentMediaType)
  return [...new Set([...listed, ...(whole === undefined ? [] : [whole])].map((type) => type.toLowerCase()))]
}

const typesIn = (value: JsonValue | undefined): string[] => (typeof value === 'string' ? [value] : asStrings(value))

/** Whether a type is among those listed, which may be ranges such as `image/*`. */
export function isListed(listed: readonly string[], type: string): boolean {
  return listed.some((one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))
}

/** Whether an operation, or its agent, is marked with a word such as `batch` or `idempotent`. */
export const isMarked = (record: AgentRecord, operation: Operation, word: string): boolean =>
  sourcesOf(record, operation).some((source) => source[word] === true)
