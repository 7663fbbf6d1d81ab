import { asObjects, asString, asStrings, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { ClientError } from '../errors.js'

/** The document of an agent as the directory returns it, with every member. */
export type AgentMetadata = JsonObject & { readonly id: string }

/** An agent in a search result. Its publisher wrote the texts: pass them to `toDisplayText` before you show them. */
export interface AgentSummary {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly endpoint?: string
  readonly capabilities: readonly string[]
  readonly tags: readonly string[]
  readonly status?: string
  /** From 0 to 1; not comparable between queries or directories. */
  readonly score?: number
  /** Why it was found, if the request had `explain`. */
  readonly evidence?: Evidence
  /** Everything that the directory returned; the whole document with `includeMetadata`. */
  readonly document: AgentMetadata
}

/** A candidate of a discovery (PROF §6.1). */
export interface Candidate {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly bindings: readonly CandidateBinding[]
  readonly score?: number
  readonly status?: string
  /** Reasons for the rank, if the request asked for them and the directory gives them. */
  readonly evidence?: Evidence
  readonly freshness?: JsonObject
  readonly document: AgentMetadata
}

export interface CandidateBinding {
  readonly protocol: string
  readonly endpoint: string
  /** Lower numbers are preferred (C-19). */
  readonly priority?: number
}

/** A reason for a score. The publisher wrote some of the texts: pass them to `toDisplayText` before you show them. */
export interface ScoreComponent {
  readonly component: string
  readonly value: number
  /** Which words, which sentence, which operation … */
  readonly text: string
}

/** Why an agent was found. */
export interface Evidence {
  /** Parts of the score by name; ignore names that you do not know. */
  readonly components: Readonly<Record<string, number>>
  /** The same with reasons, those with most weight first; a Switchboard directory gives values that add up to the score. */
  readonly explanation: readonly ScoreComponent[]
  /** Texts of the agent that match the query. */
  readonly snippets: readonly string[]
  readonly matchedWords: readonly string[]
  readonly matchedTags: readonly string[]
  readonly matchedExamples: readonly JsonObject[]
}

/** An entry of a lookup (AD §5.2). */
export interface DirectoryEntry {
  readonly agent: string
  readonly base?: string
  readonly description: string
  readonly protocols: readonly string[]
  readonly capabilities: readonly { readonly name: string; readonly type?: string }[]
  /** The URL of the registration. */
  readonly href?: string
  readonly document: JsonObject
}

export function readMetadata(value: JsonValue | undefined): AgentMetadata {
  return withId(value, 'the document of the agent')
}

export function readSummary(value: JsonValue): AgentSummary {
  const document = withId(value, 'an agent in the list')
  const endpoint = asString(document.endpoint)
  const status = asString(document.status)
  const evidence = readEvidence(document)
  return {
    id: document.id,
    name: asString(document.name) ?? document.id,
    description: asString(document.description) ?? '',
    capabilities: asStrings(document.capabilities),
    tags: asStrings(document.tags),
    ...(endpoint !== undefined && { endpoint }),
    ...(status !== undefined && { status }),
    ...(typeof document.score === 'number' && { score: document.score }),
    ...(evidence && { evidence }),
    document,
  }
}

export function readCandidate(value: JsonValue): Candidate {
  const document = withId(value, 'a candidate')
  const status = asString(document.status)
  const evidence = readEvidence(document)
  return {
    id: document.id,
    name: asString(document.name) ?? document.id,
    description: asString(document.description) ?? '',
    tags: asStrings(document.tags),
    bindings: asObjects(document.bindings).flatMap(toBinding).sort(byPriority),
    ...(typeof document.score === 'number' && { score: document.score }),
    ...(status !== undefined && { status }),
    ...(evidence && { evidence }),
    ...(isObject(document.freshness) && { freshness: document.freshness }),
    document,
  }
}

export function readEntry(value: JsonValue): DirectoryEntry {
  const agent = isObject(value) ? asString(value.agent) : undefined
  if (!isObject(value) || agent === undefined) throw badResponse('an entry of the lookup has no agent')
  const base = asString(value.base)
  const href = asString(value.href)
  return {
    agent,
    description: asString(value.description) ?? '',
    protocols: asStrings(value.protocols),
    capabilities: asObjects(value.capabilities).flatMap(toCapability),
    ...(base !== undefined && { base }),
    ...(href !== undefined && { href }),
    document: value,
  }
}

/** The items of a body that is a list, else of the first of these members that is a list. */
export function listIn(body: JsonValue | undefined, ...members: string[]): readonly JsonValue[] {
  if (Array.isArray(body)) return body
  const list = isObject(body) ? members.map((name) => body[name]).find(Array.isArray) : undefined
  if (!Array.isArray(list)) throw badResponse(`the response has no list of ${members.join(' or ')}`)
  return list
}

function withId(value: JsonValue | undefined, what: string): AgentMetadata {
  if (!hasId(value)) throw badResponse(`${what} has no id`)
  return value
}

const hasId = (value: JsonValue | undefined): value is AgentMetadata => isObject(value) && typeof value.id === 'string'

function toBinding(source: JsonObject): CandidateBinding[] {
  const { protocol, endpoint, priority } = source
  if (typeof protocol !== 'string' || typeof endpoint !== 'string') return []
  return [{ protocol, endpoint, ...(typeof priority === 'number' && { priority }) }]
}

const byPriority = (a: CandidateBinding, b: CandidateBinding): number =>
  (a.priority ?? Number.MAX_SAFE_INTEGER) - (b.priority ?? Number.MAX_SAFE_INTEGER)

function readEvidence(document: JsonObject): Evidence | undefined {
  const { score_components: components, explanation, matched_tags: tags, matched_examples: examples } = document
  if ([components, explanation, tags, examples].every((member) => member === undefined)) return undefined
  const reasons = asObjects(explanation).flatMap(({ component, value, text }) =>
    typeof component === 'string' && typeof value === 'number'
      ? [{ component, value, text: asString(text) ?? '' }]
      : [],
  )
  const numbers = Object.entries(isObject(components) ? components : {}).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, value] as const] : [],
  )
  return {
    components: Object.fromEntries([...reasons.map(({ component, value }) => [component, value] as const), ...numbers]),
    explanation: reasons,
    snippets: asStrings(document.snippets),
    matchedWords: asStrings(document.matched_words),
    matchedTags: asStrings(tags),
    matchedExamples: asObjects(examples),
  }
}

function toCapability({ name, type }: JsonObject): { name: string; type?: string }[] {
  if (typeof name !== 'string') return []
  return [{ name, ...(typeof type === 'string' && { type }) }]
}

const badResponse = (message: string): ClientError => new ClientError('bad_response', message)
