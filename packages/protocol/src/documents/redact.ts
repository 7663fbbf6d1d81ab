import { asStrings, isObject, type JsonObject, type JsonValue } from '../json.js'
import { withLearned } from './learned.js'
import { readRecord } from './read.js'
import type { AgentRecord } from './record.js'

/** Lists whose items can be marked with `"private": true`. */
const ITEM_LISTS = [
  ...['examples', 'bindings', 'operations', 'capabilities', 'skills'],
  ...['supportedInterfaces', 'additionalInterfaces', 'remotes', 'packages'],
]

/** Members that cannot be private: other callers need them to know whether they can use the agent. */
const ALWAYS_SHOWN = ['id', 'status', 'visibility']

const redactions = new WeakMap<AgentRecord, AgentRecord>()

/**
 * The record for callers who neither own the agent nor administer the directory (PROF §7.4): without the members named
 * in `private` and without items marked `"private": true`. The same record if nothing is private.
 */
export function redactRecord(record: AgentRecord): AgentRecord {
  if (record.redaction) return record.redaction
  let redacted = redactions.get(record)
  if (redacted === undefined) {
    redacted = makeRedaction(record)
    redactions.set(record, redacted)
  }
  return redacted
}

/** The same without remembering it. (A WeakMap holds its values until the next major garbage collection.) */
export function makeRedaction(record: AgentRecord): AgentRecord {
  const document = publicDocument(record.document)
  return document === record.document ? record : readRedacted(record, document)
}

/** Members that say what an agent can do. */
const OPERATION_LISTS = ['operations', 'capabilities', 'skills']

function readRedacted(record: AgentRecord, document: JsonObject): AgentRecord {
  const redacted = readRecord(record.format, document, record.id, true)
  if (!record.learned) return redacted
  // The agent lists what its publisher hides.
  const isRestricted = OPERATION_LISTS.some((name) => record.document[name] !== document[name])
  if (isRestricted && redacted.operations.length === 0) return redacted
  return withLearned(redacted, record.learned, isRestricted)
}

function publicDocument(document: JsonObject): JsonObject {
  const hidden = new Set(asStrings(document.private))
  for (const name of ALWAYS_SHOWN) hidden.delete(name)
  const lists = ITEM_LISTS.filter((name) => Array.isArray(document[name]) && document[name].some(hasSecret))
  if (hidden.size === 0 && lists.length === 0) return document
  const shown = Object.entries(document).flatMap(([name, value]): [string, JsonValue][] => {
    if (hidden.has(name) || name === 'private') return []
    if (!lists.includes(name)) return [[name, value]]
    const items = publicItems(value)
    // An empty list would claim that there are no items, so the member is left out.
    return items.length > 0 ? [[name, items]] : []
  })
  return Object.fromEntries(shown)
}

const isPrivate = (item: JsonValue): boolean => isObject(item) && item.private === true

/** An item that is private, or has examples that are. */
const hasSecret = (item: JsonValue): boolean =>
  isPrivate(item) || (isObject(item) && Array.isArray(item.examples) && item.examples.some(isPrivate))

function publicItems(value: JsonValue): JsonValue[] {
  const items = Array.isArray(value) ? value.filter((item) => !isPrivate(item)) : []
  return items.map((item) =>
    isObject(item) && hasSecret(item) ? { ...item, examples: publicItems(item.examples ?? []) } : item,
  )
}
