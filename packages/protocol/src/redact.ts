import { asStrings, isObject, type JsonObject, type JsonValue } from './json.js'
import { readRecord } from './read.js'
import type { AgentRecord } from './record.js'

/** Lists whose items can be kept from the public one by one, by `"private": true`. */
const ITEM_LISTS = ['examples', 'bindings', 'operations', 'capabilities', 'skills', 'remotes', 'packages']

const redactions = new WeakMap<AgentRecord, AgentRecord>()

/**
 * The record as those see it who neither own the agent nor administer the directory (PROF §7.4): without the members
 * named in `private` and without items marked `"private": true`. The same record if nothing is private.
 */
export function redactRecord(record: AgentRecord): AgentRecord {
  let redacted = redactions.get(record)
  if (redacted === undefined) {
    const document = publicDocument(record.document)
    redacted = document === record.document ? record : readRecord(record.face, document, record.id, true)
    redactions.set(record, redacted)
  }
  return redacted
}

function publicDocument(document: JsonObject): JsonObject {
  const hidden = new Set(asStrings(document.private))
  const marked = ITEM_LISTS.filter((name) => hasPrivateItem(document[name]))
  if (hidden.size === 0 && marked.length === 0) return document
  const kept = Object.entries(document).filter(([name]) => !hidden.has(name) && name !== 'private')
  return Object.fromEntries(kept.map(([name, value]) => [name, marked.includes(name) ? publicItems(value) : value]))
}

const isPrivate = (item: JsonValue): boolean => isObject(item) && item.private === true

const hasPrivateItem = (value: JsonValue | undefined): boolean => Array.isArray(value) && value.some(isPrivate)

const publicItems = (value: JsonValue): JsonValue =>
  Array.isArray(value) ? value.filter((item) => !isPrivate(item)) : value
