import {
  DirectoryError,
  type Issue,
  isObject,
  type JsonObject,
  type JsonValue,
  type Operation,
  type PublisherSchemas,
  pointerToken,
  toJsonSchema,
} from '@switchboard/protocol'

/** Throws `invalid_request` if the input does not match the operation's schema; the issues name the members (01 §5.2). */
export function checkInput(schemas: PublisherSchemas, operation: Operation, input: JsonValue): void {
  const mismatches = schemas.check(operation.inputs, input)
  const issues = mismatches.length > 0 ? mismatches : encodingIssues(operation.inputs, input)
  if (issues.length === 0) return
  const messages = issues.map(({ at, message }) => `${at === '' ? 'the input' : at} ${message}`)
  throw new DirectoryError('invalid_request', messages.join('; '), { issues })
}

/** Levels of members and items that are searched for encoded text. */
const MAX_DEPTH = 8

/** Whether a schema requires base64 anywhere, cached because most do not and every call has to know. */
const requiresBase64 = new WeakMap<JsonObject, boolean>()

/** For JSON Schema `contentEncoding` is only an annotation, but an agent that declares base64 must get base64 (01 §5.1). */
function encodingIssues(description: JsonObject, value: JsonValue): Issue[] {
  const isRequired =
    requiresBase64.get(description) ?? JSON.stringify(description).includes('"contentEncoding":"base64"')
  requiresBase64.set(description, isRequired)
  return isRequired ? findEncodingIssues(toJsonSchema(description), value, '', MAX_DEPTH) : []
}

function findEncodingIssues(schema: JsonObject, value: JsonValue, at: string, depth: number): Issue[] {
  if (typeof value === 'string')
    return schema.contentEncoding === 'base64' && !isBase64(value) ? [{ at, message: 'must be base64' }] : []
  if (depth === 0) return []
  const { properties, items } = schema
  if (Array.isArray(value) && isObject(items))
    return value.flatMap((item, i) => findEncodingIssues(items, item, `${at}/${i}`, depth - 1))
  if (!isObject(value) || !isObject(properties)) return []
  return Object.entries(properties).flatMap(([name, part]) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    if (member === undefined || !isObject(part)) return []
    return findEncodingIssues(part, member, `${at}/${pointerToken(name)}`, depth - 1)
  })
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
