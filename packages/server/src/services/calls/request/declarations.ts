import {
  type AgentRecord,
  asString,
  asStrings,
  isObject,
  type JsonObject,
  type JsonValue,
  type Operation,
} from '@switchboard/protocol'

/** Where the publisher may declare something about an operation: its entry in the document, then the document. */
function sourcesOf({ document }: AgentRecord, { name }: Operation): JsonObject[] {
  for (const list of [document.operations, document.capabilities, document.skills]) {
    for (const item of Array.isArray(list) ? list : []) {
      if (isObject(item) && (item.name === name || item.id === name)) return [item, document]
    }
  }
  return [document]
}

/** Media types other than JSON that an operation declares for its input or output, in lower case (AURI §7, C-26). */
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
  const whole = asString(contentMediaType)
  return [...new Set([...listed, ...(whole === undefined ? [] : [whole])].map((type) => type.toLowerCase()))]
}

const typesIn = (value: JsonValue | undefined): string[] => (typeof value === 'string' ? [value] : asStrings(value))

/** Whether a media type is in the list, which may contain ranges such as `image/*`. */
export function isListed(listed: readonly string[], type: string): boolean {
  return listed.some((one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))
}

/** Whether the publisher marked an operation, or the whole agent, as `batch` or `idempotent`. */
export const isMarked = (record: AgentRecord, operation: Operation, mark: 'batch' | 'idempotent'): boolean =>
  sourcesOf(record, operation).some((source) => source[mark] === true)
