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
  const issues = misfits.length > 0 ? misfits : encodingIssues(toJsonSchema(operation.inputs), input, MAX_DEPTH)
  if (issues.length === 0) return
  const said = issues.map(({ at, message }) => `${at === '' ? 'the input' : at} ${message}`)
  throw new DirectoryError('invalid_request', said.join('; '), { issues })
}

/** Levels of members and items in which encoded text is looked for. */
const MAX_DEPTH = 8

/** JSON Schema only notes `contentEncoding`; an agent that is promised base64 should get it (01 §5.1). */
function encodingIssues(schema: JsonObject, value: JsonValue, depth: number): Issue[] {
  if (typeof value === 'string')
    return schema.contentEncoding === 'base64' && !isBase64(value) ? [{ at: '', message: 'must be base64' }] : []
  const { properties, items } = schema
  const issues: Issue[] = []
  const look = (part: JsonObject, member: JsonValue, name: string): void => {
    for (const issue of encodingIssues(part, member, depth - 1))
      issues.push({ ...issue, at: `/${pointerToken(name)}${issue.at}` })
  }
  if (depth === 0) return issues
  if (Array.isArray(value) && isObject(items)) for (const [i, item] of value.entries()) look(items, item, String(i))
  if (!isObject(value) || !isObject(properties)) return issues
  for (const [name, part] of Object.entries(properties)) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    if (member !== undefined && isObject(part)) look(part, member, name)
  }
  return issues
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
