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

/** Refuses input that does not fit the operation's schema, naming the members (01 §5.2). */
export function checkInput(schemas: PublisherSchemas, operation: Operation, input: JsonValue): void {
  const misfits = schemas.check(operation.inputs, input)
  const issues = misfits.length > 0 ? misfits : encodingIssues(operation.inputs, input)
  if (issues.length === 0) return
  const said = issues.map(({ at, message }) => `${at === '' ? 'the input' : at} ${message}`)
  throw new DirectoryError('invalid_request', said.join('; '), { issues })
}

/** Levels of members and items in which encoded text is looked for. */
const MAX_DEPTH = 8

/** Descriptions by whether they promise base64 anywhere; most do not, and each call would have to look. */
const promising = new WeakMap<JsonObject, boolean>()

/** JSON Schema only notes `contentEncoding`; an agent that is promised base64 should get it (01 §5.1). */
function encodingIssues(description: JsonObject, value: JsonValue): Issue[] {
  const isPromised = promising.get(description) ?? JSON.stringify(description).includes('"contentEncoding":"base64"')
  promising.set(description, isPromised)
  return isPromised ? findEncodingIssues(toJsonSchema(description), value, '', MAX_DEPTH) : []
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
