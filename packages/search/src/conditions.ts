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
  matchesProtocol,
  profileTags,
  sameJson,
  speaks,
} from '@switchboard/protocol'

/** A name, or all names with a prefix (AD §5.1). */
export type NamePattern = { exact: string } | { prefix: string }

/** A hard filter; an agent must meet all filters of a query. */
export type Condition =
  | { kind: 'capability'; value: string }
  | { kind: 'tag'; value: string }
  /** The profile's tags, which include the names of capabilities (C-10). `or`: tags accepted in its place. */
  | { kind: 'profile-tag'; value: string; or?: readonly string[]; excluded?: boolean }
  | { kind: 'profile-protocol'; anyOf: readonly string[] }
  | { kind: 'language'; range: string }
  | { kind: 'authentication'; anyOf: readonly string[] }
  | { kind: 'publisher'; anyOf: readonly string[] }
  | { kind: 'status'; anyOf: readonly string[]; excluded?: boolean }
  /**
   * Any member of the document, by equality or containment (C-50). `asText`: a string also matches the number or
   * boolean that it spells.
   */
  | { kind: 'member'; name: string; value: JsonValue; asText?: boolean }
  | { kind: 'agent'; name: NamePattern }
  | { kind: 'protocol'; value: string }
  /** All given members must match the same capability (AD §5.1). */
  | { kind: 'directory-capability'; name?: NamePattern; type?: string; tag?: string }
  /** A custom predicate, such as a constraint of the profile. */
  | { kind: 'test'; holds: (record: AgentRecord) => boolean }

/** The terms that a record is indexed under; the counterpart of `requiredTerms`. */
export function* recordTerms(record: AgentRecord): Generator<string> {
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

/** Terms that every match of the condition must have; empty if the index cannot help. */
export function requiredTerms(condition: Condition): string[] {
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
        ...typeAndTagTerms(condition.type, condition.tag),
      ]
    default:
      return []
  }
}

/** Type and tag of the same capability as one term, so that the most common combination needs no further check. */
const typeAndTag = (type: string, tag: string): string => `cap-type-tag ${type.length} ${type}${tag}`

function typeAndTagTerms(type: string | undefined, tag: string | undefined): string[] {
  if (type !== undefined && tag !== undefined) return [typeAndTag(type, tag)]
  if (type !== undefined) return [`cap-type ${type}`]
  return tag === undefined ? [] : [`cap-tag ${tag}`]
}

/** Whether a record that has the required terms is certain to meet the condition, so that it need not be checked. */
export function isDecidedByTerms(condition: Condition): boolean {
  if (condition.kind === 'directory-capability')
    return requiredTerms(condition).length === 1 && !hasPrefix(condition.name)
  return requiredTerms(condition).length > 0
}

const hasPrefix = (name: NamePattern | undefined): boolean => name !== undefined && 'prefix' in name

/** Whether a status meets the condition; false for conditions on anything but the status. */
export const meetsStatus = (condition: Condition, status: string): boolean =>
  condition.kind === 'status' && condition.anyOf.includes(status) !== (condition.excluded ?? false)

/**
 * Whether the record meets the condition.
 *
 * @param registry members set by the directory; they take precedence over the document's
 */
export function meetsCondition(
  condition: Condition,
  record: AgentRecord,
  status: string,
  registry: JsonObject = {},
): boolean {
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
      return record.bindings.some(({ protocol }) => condition.anyOf.some((wanted) => matchesProtocol(wanted, protocol)))
    case 'language':
      return speaks(record.languages, condition.range)
    case 'authentication': {
      const type = record.authentication?.type ?? 'none'
      return condition.anyOf.some((word) => canonicalAuthenticationType(word) === type)
    }
    case 'publisher':
      return record.publisher !== undefined && condition.anyOf.includes(record.publisher)
    case 'status':
      return meetsStatus(condition, status)
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

/** Filled lazily: only lookups by name need it. */
const capabilityCache = new WeakMap<AgentRecord, readonly Capability[]>()

function capabilitiesOf(record: AgentRecord): readonly Capability[] {
  let list = capabilityCache.get(record)
  if (!list) {
    list = directoryCapabilities(record)
    capabilityCache.set(record, list)
  }
  return list
}

const matchesName = (name: string, pattern: NamePattern): boolean =>
  'exact' in pattern ? name === pattern.exact : name.startsWith(pattern.prefix)

function memberOf(record: AgentRecord, registry: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(registry, name)) return registry[name]
  if (name === 'id') return record.id
  if (name === 'name') return record.name
  return Object.hasOwn(record.document, name) ? record.document[name] : undefined
}

/**
 * Whether a value equals `wanted` or is a list that contains it. If `wanted` is a list, all its items must be
 * contained; if it is an object, all its members.
 */
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

/** Posting lists for filters: for each term the numbers of the agents that have it, ascending (registration order). */
export class PostingLists {
  readonly #lists = new Map<string, number[]>()

  add(term: string, number: number): void {
    const list = this.#lists.get(term)
    if (!list) this.#lists.set(term, [number])
    else if ((list.at(-1) ?? -1) < number) list.push(number)
    else {
      const at = lowerBound(list, number)
      if (list[at] !== number) list.splice(at, 0, number)
    }
  }

  remove(term: string, number: number): void {
    const list = this.#lists.get(term)
    if (!list) return
    const at = lowerBound(list, number)
    if (list[at] === number) list.splice(at, 1)
    if (list.length === 0) this.#lists.delete(term)
  }

  get(term: string): readonly number[] {
    return this.#lists.get(term) ?? []
  }

  /** Agents that have all the terms; undefined if `terms` is empty. */
  intersect(terms: readonly string[]): Iterable<number> | undefined {
    const [shortest, ...others] = terms.map((term) => this.get(term)).sort((a, b) => a.length - b.length)
    if (!shortest || others.length === 0) return shortest
    return intersection(shortest, others)
  }
}

function* intersection(candidates: readonly number[], others: readonly (readonly number[])[]): Generator<number> {
  for (const number of candidates) {
    if (others.every((list) => list[lowerBound(list, number)] === number)) yield number
  }
}

/** Index of the first item that is greater than or equal to `number` in an ascending list. */
export function lowerBound(list: readonly number[], number: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle] ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
