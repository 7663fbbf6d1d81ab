import {
  type AgentRecord,
  type Capability,
  canonicalAuthenticationType,
  directoryCapabilities,
  directoryProtocols,
  foldTag,
  isObject,
  type JsonObject,
  type JsonValue,
  profileTags,
  sameJson,
  speaks,
} from '@switchboard/protocol'

/** A name, or every name with this beginning (AD §5.1). */
export type NamePattern = { exact: string } | { prefix: string }

/** One hard filter; an agent is found if it meets all of them. */
export type Condition =
  | { kind: 'capability'; value: string }
  | { kind: 'tag'; value: string }
  /** The profile's tags, which the names of capabilities are among (C-10); `or`: tags that do as well. */
  | { kind: 'profile-tag'; value: string; or?: readonly string[]; excluded?: boolean }
  | { kind: 'profile-protocol'; anyOf: readonly string[] }
  | { kind: 'language'; range: string }
  | { kind: 'authentication'; anyOf: readonly string[] }
  | { kind: 'publisher'; anyOf: readonly string[] }
  | { kind: 'status'; anyOf: readonly string[]; excluded?: boolean }
  /** Any member of the document, by equality or containment (C-50); `asText`: numbers and booleans as they are written. */
  | { kind: 'member'; name: string; value: JsonValue; asText?: boolean }
  | { kind: 'agent'; name: NamePattern }
  | { kind: 'protocol'; value: string }
  /** Met by one and the same capability (AD §5.1). */
  | { kind: 'directory-capability'; name?: NamePattern; type?: string; tag?: string }
  /** A test of the caller's own, such as a constraint of the profile. */
  | { kind: 'test'; holds: (record: AgentRecord) => boolean }

/** What a record is listed under; `termsOf(condition)` gives those that a condition asks for. */
export function* indexTerms(record: AgentRecord): Generator<string> {
  for (const { name } of record.capabilities) yield `capability ${foldTag(name)}`
  for (const tag of record.tags) yield `tag ${foldTag(tag)}`
  for (const tag of profileTags(record)) yield `profile-tag ${foldTag(tag)}`
  for (const protocol of directoryProtocols(record)) yield `protocol ${protocol}`
  for (const { name, type, tags } of directoryCapabilities(record)) {
    yield `cap-name ${name}`
    yield `cap-type ${type}`
    for (const tag of tags ?? []) {
      yield `cap-tag ${tag}`
      yield typeAndTag(type, tag)
    }
  }
}

/** Terms that every match has; few or none where a condition cannot be looked up. */
export function termsOf(condition: Condition): string[] {
  switch (condition.kind) {
    case 'capability':
    case 'tag':
      return [`${condition.kind} ${foldTag(condition.value)}`]
    case 'profile-tag':
      return condition.excluded || condition.or?.length ? [] : [`profile-tag ${foldTag(condition.value)}`]
    case 'protocol':
      return [`protocol ${condition.value}`]
    case 'directory-capability':
      return [
        ...(condition.name && 'exact' in condition.name ? [`cap-name ${condition.name.exact}`] : []),
        ...termsOfKind(condition.type, condition.tag),
      ]
    default:
      return []
  }
}

/** Type and tag of one and the same capability, so that the commonest lookup of two needs no second look. */
const typeAndTag = (type: string, tag: string): string => `cap-type-tag ${type.length} ${type}${tag}`

function termsOfKind(type: string | undefined, tag: string | undefined): string[] {
  if (type !== undefined && tag !== undefined) return [typeAndTag(type, tag)]
  if (type !== undefined) return [`cap-type ${type}`]
  return tag === undefined ? [] : [`cap-tag ${tag}`]
}

/** Whether having the terms is all there is to the condition, so that a hit needs no second look. */
export function isExact(condition: Condition): boolean {
  if (condition.kind === 'directory-capability') return termsOf(condition).length === 1 && !hasPrefix(condition.name)
  return termsOf(condition).length > 0
}

const hasPrefix = (name: NamePattern | undefined): boolean => name !== undefined && 'prefix' in name

/** Whether a condition on the status alone holds; any other does not. */
export const holdsStatus = (condition: Condition, status: string): boolean =>
  condition.kind === 'status' && condition.anyOf.includes(status) !== (condition.excluded ?? false)

/** Whether the record meets the condition; `registry` are members that the directory answers for. */
export function holds(condition: Condition, record: AgentRecord, status: string, registry: JsonObject = {}): boolean {
  switch (condition.kind) {
    case 'capability':
      return record.capabilities.some(({ name }) => foldTag(name) === foldTag(condition.value))
    case 'tag':
      return record.tags.some((tag) => foldTag(tag) === foldTag(condition.value))
    case 'profile-tag': {
      const wanted = [condition.value, ...(condition.or ?? [])].map(foldTag)
      return profileTags(record).some((tag) => wanted.includes(foldTag(tag))) !== (condition.excluded ?? false)
    }
    case 'profile-protocol':
      return record.bindings.some(({ protocol }) => condition.anyOf.some((wanted) => speaksProtocol(protocol, wanted)))
    case 'language':
      return speaks(record.languages, condition.range)
    case 'authentication': {
      const type = record.authentication?.type ?? 'none'
      return condition.anyOf.some((word) => canonicalAuthenticationType(word) === type)
    }
    case 'publisher':
      return record.publisher !== undefined && condition.anyOf.includes(record.publisher)
    case 'status':
      return holdsStatus(condition, status)
    case 'member':
      return contains(memberOf(record, registry, condition.name), condition.value, condition.asText)
    case 'agent':
      return matchesName(record.id, condition.name)
    case 'protocol':
      return directoryProtocols(record).includes(condition.value)
    case 'directory-capability':
      return capabilitiesOf(record).some(
        ({ name, type, tags }) =>
          (condition.name === undefined || matchesName(name, condition.name)) &&
          (condition.type === undefined || type === condition.type) &&
          (condition.tag === undefined || (tags ?? []).includes(condition.tag)),
      )
    case 'test':
      return condition.holds(record)
  }
}

/** Kept for records that lookups by name have looked at: most never are. */
const capabilities = new WeakMap<AgentRecord, readonly Capability[]>()

function capabilitiesOf(record: AgentRecord): readonly Capability[] {
  let list = capabilities.get(record)
  if (!list) {
    list = directoryCapabilities(record)
    capabilities.set(record, list)
  }
  return list
}

const matchesName = (name: string, pattern: NamePattern): boolean =>
  'exact' in pattern ? name === pattern.exact : name.startsWith(pattern.prefix)

/** "mcp" is met by "mcp/1.0"; case does not count (C-20). */
export function speaksProtocol(protocol: string, wanted: string): boolean {
  const [has, asks] = [protocol.toLowerCase(), wanted.toLowerCase()]
  return has === asks || has.split('/')[0] === asks
}

function memberOf(record: AgentRecord, registry: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(registry, name)) return registry[name]
  if (name === 'id') return record.id
  if (name === 'name') return record.name
  return Object.hasOwn(record.document, name) ? record.document[name] : undefined
}

/** Equal, or a list that has it; a list asked for must be had whole, an object by the members it names. */
function contains(has: JsonValue | undefined, wanted: JsonValue, asText = false): boolean {
  if (has === undefined) return false
  if (Array.isArray(wanted)) return wanted.every((item) => contains(has, item, asText))
  if (Array.isArray(has)) return has.some((item) => contains(item, wanted, asText))
  if (isObject(wanted)) {
    const own = (name: string): JsonValue | undefined =>
      isObject(has) && Object.hasOwn(has, name) ? has[name] : undefined
    return isObject(has) && Object.entries(wanted).every(([name, value]) => contains(own(name), value, asText))
  }
  return (
    sameJson(has, wanted) || (asText && (typeof has === 'number' || typeof has === 'boolean') && String(has) === wanted)
  )
}
