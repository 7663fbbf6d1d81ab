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
import { isListed, mediaTypesOf } from './declarations.js'
import type { FormFile, Input } from './invocation.js'

/** The JSON of an input; a body of another media type has none. */
export const jsonOf = (input: Input): JsonValue => (input.kind === 'bytes' ? {} : input.value)

/** Whether the body goes to the agent unchanged, because the operation lists its media type (C-66). */
export function isForwarded(record: AgentRecord, operation: Operation, input: Input): boolean {
  if (input.kind === 'json') return false
  const listed = mediaTypesOf(record, operation, 'input')
  const type = mediaTypeOf(input.contentType)
  if (isListed(listed, type)) return true
  if (input.kind === 'form') return false
  const supported = ['application/json', 'multipart/form-data', ...listed]
  throw new DirectoryError(
    'unsupported_media_type',
    `the operation "${operation.name}" accepts ${supported.join(', ')}, not "${type.slice(0, 80)}"`,
    { members: { supported } },
  )
}

/** Adds the files of a form to the input as base64; a member that is a list gets all files of its name. */
export function addFiles(operation: Operation, value: JsonValue, files: readonly FormFile[]): JsonValue {
  if (files.length === 0) return value
  if (!isObject(value)) throw invalid([{ at: '', message: 'must be an object: files become members of it' }])
  const joined: JsonObject = { ...value }
  for (const { name, bytes } of files) {
    const kind = fileMember(operation, name)
    if (kind === undefined)
      throw invalid([{ at: `/${name}`, message: 'is a file, but the operation has no member of that name for files' }])
    const text = Buffer.from(bytes).toString('base64')
    const before = joined[name]
    if (kind === 'text') joined[name] = text
    else joined[name] = [...(Array.isArray(before) ? before : []), text]
  }
  return joined
}

/** How a member accepts a file: as base64 text, as a list of such texts, or not at all. */
function fileMember(operation: Operation, name: string): 'text' | 'list' | undefined {
  // The simple map has the type word `file`, which the schema compiled from it no longer shows (C-09).
  if (/^file\??$/.test(String(operation.inputs[name]))) return 'text'
  const schemas = memberSchemas(operation.inputs, name)
  if (schemas.some(({ contentEncoding }) => contentEncoding === 'base64')) return 'text'
  const ofItems = schemas.map(({ items }) => items).filter(isObject)
  return ofItems.some(({ contentEncoding }) => contentEncoding === 'base64') ? 'list' : undefined
}
