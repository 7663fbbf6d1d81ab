import {
  type AgentRecord,
  type Capability,
  canonicalAuthenticationType,
  directoryCapabilities,
  directoryProtocols,
  foldTag,
  inheritedTags,
  isObject,
  type JsonObject,
  type JsonValue,
  plainRecord,
  profileTags,
} from '@switchboard/protocol'
import { containmentTest } from './contains.js'
import type { Clause, PrefixClause } from './posting-lists.js'

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
  /**
   * A custom predicate, such as a constraint of the profile. `unless`: what it is for records whose documents have no member
   * of this name, which need not be parsed then.
   */
  | { kind: 'test'; holds: (record: AgentRecord) => boolean; unless?: { member: string; holds: boolean } }

/** What conditions are about; `registry` has members set by the directory, which take precedence over the document's. */
export interface Described {
  readonly record: AgentRecord
  readonly status: string
  readonly registry?: JsonObject
}

/** What an agent is indexed under. */
export interface Term {
  readonly kind: string
  readonly value: string
}

/** The terms that an agent is indexed under, some perhaps twice; the counterpart of `clausesOf`. */
export function* termsOf({ record, status }: Described): Generator<Term> {
  for (const { name } of record.capabilities) yield { kind: 'capability', value: foldTag(name) }
  for (const tag of record.tags) yield { kind: 'tag', value: foldTag(tag) }
  for (const tag of profileTags(record)) yield { kind: 'profile-tag', value: foldTag(tag) }
  for (const protocol of directoryProtocols(record)) yield { kind: 'protocol', value: protocol }
  for (const { protocol } of record.bindings)
    for (const value of protocolNames(protocol)) yield { kind: 'binding', value }
  if (record.languages === undefined) yield { kind: ANY_LANGUAGE, value: '' }
  else for (const value of languageRanges(record.languages)) yield { kind: 'language', value }
  yield { kind: 'authentication', value: authenticationOf(record) }
  if (record.publisher !== undefined) yield { kind: 'publisher', value: record.publisher }
  yield { kind: 'status', value: status }
  const capabilities = directoryCapabilities(record)
  for (const { name, type, tags } of capabilities) {
    yield { kind: 'cap-name', value: name }
    yield { kind: 'cap-type', value: type }
    for (const value of tags ?? []) yield { kind: 'cap-tag', value }
  }
  if (capabilities.length > 0) for (const value of inheritedTags(record)) yield { kind: 'cap-tag', value }
}

/** The kind of the only term of agents that do not say which languages they support: they pass every filter for one (C-13). */
const ANY_LANGUAGE = 'any-language'

/** Clauses that every match of the condition meets; empty if terms say nothing about it. */
export function clausesOf(condition: Condition): (Clause | PrefixClause)[] {
  switch (condition.kind) {
    case 'capability':
    case 'tag':
      return foldAll(condition.all).map((value) => ({ kind: condition.kind, anyOf: [value] }))
    case 'profile-tags': {
      const kind = 'profile-tag'
      const required = condition.required.map((group) => ({ kind, anyOf: foldAll(group) }))
      return condition.excluded.length === 0
        ? required
        : [...required, { kind, anyOf: foldAll(condition.excluded), excluded: true }]
    }
    case 'profile-protocol':
      return [{ kind: 'binding', anyOf: lowerAll(condition.anyOf) }]
    case 'language':
      return lowerAll(condition.all).map((range) => ({ kind: 'language', anyOf: [range], orKind: ANY_LANGUAGE }))
    case 'authentication':
      return [{ kind: 'authentication', anyOf: condition.anyOf.map(canonicalAuthenticationType) }]
    case 'publisher':
      return [{ kind: 'publisher', anyOf: condition.anyOf }]
    case 'status':
      return [{ kind: 'status', anyOf: condition.anyOf, excluded: condition.excluded }]
    case 'protocol':
      return [{ kind: 'protocol', anyOf: [condition.value] }]
    case 'directory-capability':
      return [
        ...(condition.name ? [clauseOfName(condition.name)] : []),
        ...(condition.type === undefined ? [] : [{ kind: 'cap-type', anyOf: [condition.type] }]),
        ...(condition.tag === undefined ? [] : [{ kind: 'cap-tag', anyOf: [condition.tag] }]),
      ]
    default:
      return []
  }
}

const clauseOfName = (name: NamePattern): Clause | PrefixClause =>
  'exact' in name ? { kind: 'cap-name', anyOf: [name.exact] } : { kind: 'cap-name', prefix: name.prefix }

const foldAll = (tags: readonly string[]): string[] => [...new Set(tags.map(foldTag))]

const lowerAll = (ranges: readonly string[]): string[] => [...new Set(ranges.map((range) => range.toLowerCase()))]

/** Whether an agent that meets the clauses is certain to meet the condition, so that it need not be checked. */
export function isDecidedByTerms(condition: Condition): boolean {
  switch (condition.kind) {
    case 'directory-capability':
      // Several terms could belong to different capabilities of the agent.
      return clausesOf(condition).length === 1
    case 'member':
    case 'agent':
    case 'test':
      return false
    default:
      return true
  }
}

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
      return ({ bindings }) => bindings.some(({ protocol }) => protocolNames(protocol).some((name) => wanted.has(name)))
    }
    case 'language': {
      const wanted = lowerAll(condition.all)
      return ({ languages }) => languages === undefined || hasAll(languageRanges(languages), wanted)
    }
    case 'authentication': {
      const wanted = new Set(condition.anyOf.map(canonicalAuthenticationType))
      return (record) => wanted.has(authenticationOf(record))
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

/** Whether an agent meets a condition, as far as its record is seen. The record is parsed only if that decides. */
export type AgentTest = (record: AgentRecord, agent: Omit<Described, 'record'>) => boolean

/** The same as `conditionTest` for agents of an index, which may be very many. */
export function agentTest(condition: Condition): AgentTest {
  const test = conditionTest(condition)
  switch (condition.kind) {
    case 'member': {
      const { name } = condition
      const isMentioned = name === 'id' || name === 'name' ? () => true : mentionTest(textsOf(condition))
      return (record, { status, registry }) => {
        if (!isMentioned(record) && !(registry && Object.hasOwn(registry, name))) return false
        return test(record, status, registry)
      }
    }
    case 'test': {
      const { unless } = condition
      const isMentioned = mentionTest(unless ? [unless.member] : [])
      return (record, { status }) => (unless && !isMentioned(record) ? unless.holds : test(record, status))
    }
    default:
      return (record, { status }) => test(record, status)
  }
}

/** Texts that are looked for; more of them hardly exclude more documents. */
const MAX_TEXTS = 4

/** False if the document of a record certainly does not contain one of the texts, as a name or as a whole string. */
function mentionTest(texts: readonly string[]): (record: AgentRecord) => boolean {
  const wanted = texts
    .map((text) => JSON.stringify(text))
    .filter((json, i) => json.length === (texts[i] ?? '').length + 2)
    .slice(0, MAX_TEXTS)
  if (wanted.length === 0) return () => true
  const hasSlash = wanted.some((json) => json.includes('/'))
  return ({ text }) => {
    if (text === undefined || wanted.every((json) => text.includes(json))) return true
    // The publisher may have written characters as escapes where none are necessary.
    return text.includes('\\u') || (hasSlash && text.includes('\\/'))
  }
}

/** Texts that the document of an agent must contain to meet the condition. */
function textsOf({ name, value, asText = false }: Extract<Condition, { kind: 'member' }>): string[] {
  const texts = [name]
  const collect = (wanted: JsonValue): void => {
    if (typeof wanted === 'string') {
      if (!asText || !isNumberOrBoolean(wanted)) texts.push(wanted)
    } else if (Array.isArray(wanted)) for (const item of wanted) collect(item)
    else if (isObject(wanted)) {
      for (const [member, item] of Object.entries(wanted)) {
        texts.push(member)
        collect(item)
      }
    }
  }
  collect(value)
  return texts
}

const isNumberOrBoolean = (text: string): boolean =>
  text === 'true' || text === 'false' || (text.trim() !== '' && !Number.isNaN(Number(text)))

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

const authenticationOf = ({ authentication }: AgentRecord): string => authentication?.type ?? 'none'

/** The names that a protocol goes by in filters, as `matchesProtocol` compares them: "mcp/1.0" is also "mcp" (C-20). */
function protocolNames(protocol: string): string[] {
  const name = protocol.toLowerCase()
  const end = name.indexOf('/')
  return end < 0 ? [name] : [name, name.slice(0, end)]
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
  const plain = plainRecord(record)
  let list = capabilityCache.get(plain)
  if (!list) {
    list = directoryCapabilities(plain)
    capabilityCache.set(plain, list)
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
