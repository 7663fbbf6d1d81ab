import {
  type AgentRecord,
  type Capability,
  canonicalAuthenticationType,
  directoryCapabilities,
  directoryProtocols,
  foldTag,
  inheritedTags,
  type JsonObject,
  type JsonValue,
  profileTags,
} from '@switchboard/protocol'
import { containmentTest } from './contains.js'

/** A name, or all names with a prefix (AD §5.1). */
export type NamePattern = { exact: string } | { prefix: string }

/** A hard filter; an agent must meet all filters of a query. */
export type Condition =
  | { kind: 'capability'; all: readonly string[] }
  | { kind: 'tag'; all: readonly string[] }
  /**
   * The profile's tags, which include the names of capabilities (C-10). An agent must have one tag of each group in
   * `required`, and none of `excluded`.
   */
  | { kind: 'profile-tags'; required: readonly (readonly string[])[]; excluded: readonly string[] }
  | { kind: 'profile-protocol'; anyOf: readonly string[] }
  | { kind: 'language'; all: readonly string[] }
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
  const capabilities = directoryCapabilities(record)
  for (const { name, type, tags } of capabilities) {
    yield `cap-name ${name}`
    yield `cap-type ${type}`
    for (const tag of tags ?? []) yield `cap-tag ${tag}`
  }
  if (capabilities.length > 0) for (const tag of inheritedTags(record)) yield `cap-tag ${tag}`
}

/** Terms that every match of the condition must have; empty if the index cannot help. */
export function requiredTerms(condition: Condition): string[] {
  switch (condition.kind) {
    case 'capability':
    case 'tag':
      return foldAll(condition.all).map((value) => `${condition.kind} ${value}`)
    case 'profile-tags':
      return condition.required.flatMap((group) => {
        const [tag, ...others] = foldAll(group)
        return tag === undefined || others.length > 0 ? [] : [`profile-tag ${tag}`]
      })
    case 'protocol':
      return [`protocol ${condition.value}`]
    case 'directory-capability':
      return [
        ...(condition.name && 'exact' in condition.name ? [`cap-name ${condition.name.exact}`] : []),
        ...(condition.type === undefined ? [] : [`cap-type ${condition.type}`]),
        ...(condition.tag === undefined ? [] : [`cap-tag ${condition.tag}`]),
      ]
    default:
      return []
  }
}

const foldAll = (tags: readonly string[]): string[] => [...new Set(tags.map(foldTag))]

/** Whether a record that has the required terms is certain to meet the condition, so that it need not be checked. */
export function isDecidedByTerms(condition: Condition): boolean {
  const { length } = requiredTerms(condition)
  if (condition.kind === 'directory-capability') return length === 1 && !hasPrefix(condition.name)
  if (condition.kind === 'profile-tags') return condition.excluded.length === 0 && length === condition.required.length
  return length > 0
}

const hasPrefix = (name: NamePattern | undefined): boolean => name !== undefined && 'prefix' in name

/**
 * Whether a record meets a condition.
 *
 * @param registry members set by the directory; they take precedence over the document's
 */
export type ConditionTest = (record: AgentRecord, status: string, registry?: JsonObject) => boolean

/** Prepares a condition for many records: what is wanted is brought into canonical form and gathered in sets once. */
export function conditionTest(condition: Condition): ConditionTest {
  switch (condition.kind) {
    case 'capability': {
      const wanted = foldAll(condition.all)
      return ({ capabilities }) => hasAll(new Set(capabilities.map(({ name }) => foldTag(name))), wanted)
    }
    case 'tag': {
      const wanted = foldAll(condition.all)
      return ({ tags }) => hasAll(new Set(tags.map(foldTag)), wanted)
    }
    case 'profile-tags':
      return profileTagsTest(condition.required, condition.excluded)
    case 'profile-protocol': {
      const wanted = new Set(condition.anyOf.map((protocol) => protocol.toLowerCase()))
      // As `matchesProtocol` compares them: "mcp/1.0" also matches "mcp" (C-20).
      const isWanted = (protocol: string): boolean => wanted.has(protocol) || wanted.has(protocol.split('/')[0] ?? '')
      return ({ bindings }) => bindings.some(({ protocol }) => isWanted(protocol.toLowerCase()))
    }
    case 'language': {
      const wanted = [...new Set(condition.all.map((range) => range.toLowerCase()))]
      return ({ languages }) => languages === undefined || hasAll(languageRanges(languages), wanted)
    }
    case 'authentication': {
      const wanted = new Set(condition.anyOf.map(canonicalAuthenticationType))
      return ({ authentication }) => wanted.has(authentication?.type ?? 'none')
    }
    case 'publisher': {
      const wanted = new Set(condition.anyOf)
      return ({ publisher }) => publisher !== undefined && wanted.has(publisher)
    }
    case 'status': {
      const test = statusTest(condition)
      return (_record, status) => test(status)
    }
    case 'member': {
      const { name } = condition
      const test = containmentTest(condition.value, condition.asText)
      return (record, _status, registry = {}) => test(memberOf(record, registry, name))
    }
    case 'agent':
      return ({ id }) => matchesName(id, condition.name)
    case 'protocol':
      return (record) => directoryProtocols(record).includes(condition.value)
    case 'directory-capability':
      return (record) =>
        capabilitiesOf(record).some(
          ({ name, type, tags }) =>
            (condition.name === undefined || matchesName(name, condition.name)) &&
            (condition.type === undefined || type === condition.type) &&
            (condition.tag === undefined || hasTag(record, condition.tag, tags)),
        )
    case 'test':
      return condition.holds
  }
}

/** Whether a status meets the condition. */
export function statusTest({
  anyOf,
  excluded = false,
}: Extract<Condition, { kind: 'status' }>): (status: string) => boolean {
  const named = new Set(anyOf)
  return (status) => named.has(status) !== excluded
}

const hasAll = (has: ReadonlySet<string>, wanted: readonly string[]): boolean => wanted.every((value) => has.has(value))

function profileTagsTest(required: readonly (readonly string[])[], excluded: readonly string[]): ConditionTest {
  const unwanted = new Set(foldAll(excluded))
  /** The groups that each tag is in, by position. */
  const groupsOf = new Map<string, number[]>()
  for (const [i, group] of required.entries())
    for (const tag of foldAll(group)) groupsOf.set(tag, [...(groupsOf.get(tag) ?? []), i])
  return (record) => {
    const found = new Set<number>()
    const tags = record.tags.map(foldTag)
    if (record.format !== 'profile') for (const { name } of record.capabilities) tags.push(foldTag(name))
    for (const tag of tags) {
      if (unwanted.has(tag)) return false
      for (const group of groupsOf.get(tag) ?? []) found.add(group)
    }
    return found.size === required.length
  }
}

/** Records that are compared one by one first: often no more are. */
const COMPARED_FIRST = 256

/**
 * Prepares a condition for whole records of an index. If there are many, tags are looked up in the posting lists, which
 * takes less time than to fold those of every agent.
 */
export function indexedTest(condition: Condition, postings: PostingLists): (agent: IndexedRecord) => boolean {
  const test = conditionTest(condition)
  const compare = ({ record, status, registry }: IndexedRecord): boolean => test(record, status, registry)
  if (condition.kind !== 'profile-tags') return compare
  let compared = 0
  let lookUp: ((number: number) => boolean) | undefined
  return (agent) => {
    if (compared++ < COMPARED_FIRST) return compare(agent)
    lookUp ??= profileTagsLookup(condition, postings)
    return lookUp(agent.number)
  }
}

/** What `indexedTest` reads of an agent. */
export interface IndexedRecord {
  readonly number: number
  readonly record: AgentRecord
  readonly status: string
  readonly registry?: JsonObject
}

function profileTagsLookup(
  { required, excluded }: Extract<Condition, { kind: 'profile-tags' }>,
  postings: PostingLists,
): (number: number) => boolean {
  const holders = (tags: readonly string[], isCounted = (_number: number): boolean => true): Set<number> => {
    const numbers = new Set<number>()
    for (const tag of foldAll(tags))
      for (const number of postings.get(`profile-tag ${tag}`)) if (isCounted(number)) numbers.add(number)
    return numbers
  }
  const unwanted = holders(excluded)
  let wanted: ReadonlySet<number> | undefined
  for (const group of required) {
    const before = wanted
    wanted = holders(group, before && ((number) => before.has(number)))
  }
  return (number) => !unwanted.has(number) && (wanted?.has(number) ?? true)
}

/** The language ranges that a list of tags matches, by basic filtering: "zh-CN" matches "zh-cn", "zh" and "*" (C-13). */
function languageRanges(languages: readonly string[]): Set<string> {
  const ranges = new Set<string>()
  for (const tag of languages) {
    ranges.add('*')
    const lower = tag.toLowerCase()
    ranges.add(lower)
    for (let end = lower.indexOf('-'); end >= 0; end = lower.indexOf('-', end + 1)) ranges.add(lower.slice(0, end))
  }
  return ranges
}

const hasTag = (record: AgentRecord, tag: string, own: readonly string[] = []): boolean =>
  own.includes(tag) || inheritedTags(record).includes(tag)

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
