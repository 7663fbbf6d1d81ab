import {
  type AgentRecord,
  DirectoryError,
  invalid,
  isObject,
  type JsonObject,
  type JsonValue,
  mediaTypeOf,
  memberSchemas,
  type Operation,
} from '@switchboard/protocol'
import type { FormFile, Input } from './invocation.js'
import { isListed, mediaTypesOf } from './media-types.js'

/** The JSON of an input: what a form or a body of another kind says beside its files. */
export const jsonOf = (input: Input): JsonValue => (input.kind === 'bytes' ? {} : input.value)

/** Whether an input goes to the agent as it came: a kind of body, or a form, that the operation lists (C-66). */
export function passesAsIs(record: AgentRecord, operation: Operation, input: Input): boolean {
  if (input.kind === 'json') return false
  const listed = mediaTypesOf(record, operation, 'input')
  const type = mediaTypeOf(input.contentType)
  if (isListed(listed, type)) return true
  if (input.kind === 'form') return false
  const offered = ['application/json', 'multipart/form-data', ...listed]
  throw new DirectoryError(
    'unsupported_media_type',
    `the operation "${operation.name}" takes ${offered.join(', ')}, not "${type.slice(0, 80)}"`,
    { members: { supported: offered } },
  )
}

/** Puts the files of a form into the members that take base64 text; a member that takes several gets a list. */
export function joinFiles(operation: Operation, value: JsonValue, files: readonly FormFile[]): JsonValue {
  if (files.length === 0) return value
  if (!isObject(value)) throw invalid([{ at: '', message: 'must be an object: files become members of it' }])
  const joined: JsonObject = { ...value }
  for (const { name, bytes } of files) {
    const place = placeOf(operation, name)
    if (place === undefined)
      throw invalid([{ at: `/${name}`, message: 'is a file, and the operation has no member of that name for one' }])
    const text = Buffer.from(bytes).toString('base64')
    const before = joined[name]
    if (place === 'text') joined[name] = text
    else joined[name] = [...(Array.isArray(before) ? before : []), text]
  }
  return joined
}

/** How a member takes a file: as base64 text, as a list of such texts, or not at all. */
function placeOf(operation: Operation, name: string): 'text' | 'list' | undefined {
  // The simple map has a word for it, which the schema compiled from it no longer shows (C-09).
  if (/^file\??$/.test(String(operation.inputs[name]))) return 'text'
  const schemas = memberSchemas(operation.inputs, name)
  if (schemas.some(({ contentEncoding }) => contentEncoding === 'base64')) return 'text'
  const ofItems = schemas.map(({ items }) => items).filter(isObject)
  return ofItems.some(({ contentEncoding }) => contentEncoding === 'base64') ? 'list' : undefined
}
