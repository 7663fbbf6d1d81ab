import { type AgentRecord, profileTags } from '@switchboard/protocol'
import {
  type Condition,
  type Correction,
  readQuery,
  type ScoreParts,
  type TextEvidence,
  type TextQuery,
  UNKNOWN_WORDS_FLOOR,
} from '@switchboard/search'
import { viewOf } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import { tagShare } from '../../policy/taxonomy.js'
import type { Span } from '../../telemetry/traces.js'
import { waitForTurn } from '../../turns.js'
import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { isPrivate } from '../registry/hidden-agents.js'
import { type ScoreFactors, scoreFactorsOf } from './score-factors.js'

/** A search, independent of the draft that it came from. */
export interface Query {
  readonly conditions: readonly Condition[]
  /** Natural-language text; undefined: filter only. */
  readonly text?: string | undefined
  /** Search for the text as it is written, without correcting typos. */
  readonly exact?: boolean | undefined
  /** Preferred languages, in addition to those that the text names. */
  readonly languages?: readonly string[]
  /** Languages that the caller reads (`Accept-Language`): agents described in them come first if nothing else decides. */
  readonly reads?: readonly string[] | undefined
  /** Agents with these tags rank higher; others are not excluded. Has no effect without `text`. */
  readonly preferredTags?: readonly string[]
  /** `score`, best first; `name`, alphabetical; `registration`, oldest first. */
  readonly order: 'score' | 'name' | 'registration'
  readonly skip: number
  readonly take: number
  readonly caller: Caller
  /** The span that the search is part of. */
  readonly trace?: Span | undefined
}

/** One result, as the caller may see it. */
export interface Found {
  readonly agent: Agent
  readonly record: AgentRecord
  readonly score: number | undefined
  /** What the score before factors and preferences consists of; undefined without text. */
  readonly parts?: ScoreParts | undefined
  /** By how much preferred tags have raised the score. */
  readonly raised?: number | undefined
}

export interface FoundPage {
  readonly found: readonly Found[]
  /** Number of matches that the caller may see. */
  readonly total: number
  /** Agents that were checked one by one, for the rate limit. */
  readonly visited: number
  /** Limitations of this result, for the caller. */
  readonly warnings: readonly string[]
  /** Words of the text that were taken for typos, and what was searched for instead. */
  readonly corrected: readonly Correction[]
  /** If no word of the text is known and nothing was found: similar words that agents contain. */
  readonly suggestions: readonly string[]
  /** Why an agent matches the text; empty without text. */
  readonly evidenceOf: (hit: Found) => TextEvidence
  readonly factorsOf: (hit: Found) => ScoreFactors
  /** The id with which callers say which of these they chose; undefined if nothing is learned from this search. */
  readonly searchIdFor: (shown: readonly Found[]) => string | undefined
}

const OUT_OF_SERVICE = ['inactive', 'suspended']

/** Excludes agents that are out of service, unless the caller asks for them (C-21). */
export const AVAILABLE: Condition = { kind: 'status', anyOf: OUT_OF_SERVICE, excluded: true }

export const isAvailable = (status: string): boolean => !OUT_OF_SERVICE.includes(status)

const IS_INCOMPLETE = 'the index is still being built: some agents are not found by words yet'
const IS_STALE = 'some results are copies from a directory that has not been heard for a while'
const TEXT_IS_OFF = 'text search is switched off: the query orders the results but does not filter them'

/** Filters, ranks and pages. */
export async function findAgents(context: Context, query: Query): Promise<FoundPage> {
  if (query.text === undefined) return findByConditions(context, query)
  const span = context.traces?.start({ name: 'search agents', kind: 'internal', parent: query.trace })
  try {
    const page = await findByText(context, query, query.text, span)
    span?.set({ 'switchboard.search.matches': page.total, 'switchboard.search.agents': context.catalog.index.size })
    span?.end()
    return page
  } catch (error) {
    span?.end('internal_error')
    throw error
  }
}

async function findByText(context: Context, query: Query, words: string, span: Span | undefined): Promise<FoundPage> {
  const { text, warnings, corrected, unknown } = await readText(context, query, words, span)
  const turn = waitForTurn()
  if (turn) await turn
  const isPaged = query.order !== 'name' && context.searchByText
  const boost = boostOf(context, query)
  const choiceOf = context.choices?.factorsFor(text.query) ?? (() => 1)
  const started = performance.now()
  let rankingStarted = started
  const { ranked, total, visited } = context.catalog.index.search(text, selectionOf(context, query), {
    skip: isPaged ? query.skip : 0,
    take: isPaged ? query.take : Number.POSITIVE_INFINITY,
    scoreFactor: (agent) => scoreFactorsOf(context, agent, choiceOf(agent)).factor,
    boost,
    onCandidates: () => {
      rankingStarted = performance.now()
    },
  })
  context.metrics.searchStage('candidates', rankingStarted - started)
  context.metrics.searchStage('ranking', performance.now() - rankingStarted)
  const matches = context.searchByText ? [...ranked] : withUnscored(context, query, ranked, boost)
  if (query.order === 'name') sortByName(context, query.caller, matches)
  const page = isPaged ? matches : matches.slice(query.skip, query.skip + query.take)
  return {
    total: context.searchByText ? total : matches.length,
    visited: visited + (isPaged ? Math.min(query.skip, total) : matches.length),
    found: page.flatMap((hit) => toFound(context, query.caller, hit)),
    warnings: [
      ...warnings,
      ...(context.catalog.index.deferred > 0 ? [IS_INCOMPLETE] : []),
      ...staleness(page),
      ...context.storeStatus.warnings(),
    ],
    corrected,
    suggestions: total === 0 ? context.catalog.index.suggest(unknown) : [],
    evidenceOf: ({ agent }) => context.catalog.index.evidence(text, agent),
    factorsOf: ({ agent }) => scoreFactorsOf(context, agent, choiceOf(agent)),
    searchIdFor: (shown) =>
      query.order === 'score'
        ? context.choices?.idFor(
            text.query,
            shown.map(({ agent }) => agent),
          )
        : undefined,
  }
}

/** A warning if a copy may have changed at its origin, because nothing is heard of the peer that supplies it. */
const staleness = (page: readonly { readonly agent: Agent }[]): string[] =>
  page.some(({ agent }) => agent.findings.members.peer !== undefined) ? [IS_STALE] : []

/** How far an agent with every preferred tag is raised: this share of the way from its score to 1. */
const PREFERENCE = 0.25

/** Preferred tags raise a score and never lower one (PROF §5.1). */
function boostOf(
  { taxonomy, grantsOf }: Context,
  { preferredTags = [], caller }: Query,
): ((agent: Agent) => number) | undefined {
  if (preferredTags.length === 0) return undefined
  return (agent) => {
    const record = viewOf(agent, caller, grantsOf)
    return record ? PREFERENCE * (tagShare(preferredTags, profileTags(record), taxonomy) ?? 0) : 0
  }
}

interface ReadText {
  readonly text: TextQuery
  readonly warnings: readonly string[]
  readonly corrected: readonly Correction[]
  /** The words of the text if none of them is known. */
  readonly unknown: readonly string[]
}

/** The parsed query and its vectors, if the embedding model is available; otherwise a warning (C-52). */
async function readText(
  context: Context,
  { caller, exact, languages = [], reads }: Query,
  words: string,
  parent: Span | undefined,
): Promise<ReadText> {
  const { catalog, hidden, embeddings, lexicon, searchByText, metrics, traces } = context
  void lexicon.load()
  const { text, corrections, unknown } = catalog.index.correct(words, {
    exact,
    lexicon,
    privateAgents: () => hidden.shownTo(caller).map(({ number }) => number),
  })
  const read = readQuery(text, { modelLanguages: embeddings.languages, lexicon, reads })
  // A model that knows many languages may know words that nobody else does.
  const needsKnownWords = unknown.length > 0 && embeddings.languages !== 'all'
  const query = {
    ...read,
    namedLanguages: [...read.namedLanguages, ...languages],
    ...(needsKnownWords && { minSimilarity: UNKNOWN_WORDS_FLOOR }),
  }
  const spelling = { corrected: corrections, unknown }
  if (!searchByText) return { text: { query, vectors: [] }, warnings: [TEXT_IS_OFF], ...spelling }
  if (query.semanticWeight === 0) return { text: { query, vectors: [] }, warnings: [], ...spelling }
  const started = performance.now()
  const span = traces?.start({ name: 'embed query', kind: 'internal', parent })
  const { vectors, warning } = await embeddings.embed(query.texts)
  span?.end(vectors.length === 0 && warning !== undefined ? 'timeout' : undefined)
  metrics.searchStage('embedding', performance.now() - started)
  if (vectors.length === 0 && warning !== undefined) metrics.searchFallback()
  return { text: { query, vectors }, warnings: warning === undefined ? [] : [warning], ...spelling }
}

function findByConditions(context: Context, query: Query): FoundPage {
  const order = query.order === 'name' ? 'name' : 'registration'
  const { agents, total, visited } = context.catalog.index.list(selectionOf(context, query), {
    order,
    skip: query.skip,
    take: query.take,
    exactTotal: true,
  })
  return {
    total,
    visited,
    found: agents.flatMap((agent) => toFound(context, query.caller, { agent, score: undefined })),
    warnings: [...staleness(agents.map((agent) => ({ agent }))), ...context.storeStatus.warnings()],
    corrected: [],
    suggestions: [],
    evidenceOf: () => ({ words: [], parts: [] }),
    factorsOf: ({ agent }) => scoreFactorsOf(context, agent, 1),
    searchIdFor: () => undefined,
  }
}

/** With text search switched off, agents that do not match the text follow those that do. */
function withUnscored(
  context: Context,
  query: Query,
  ranked: readonly Hit[],
  boost: ((agent: Agent) => number) | undefined,
): Hit[] {
  const scored = new Set(ranked.map(({ agent }) => agent))
  const rest = Array.from(context.catalog.index.select(selectionOf(context, query))).filter((a) => !scored.has(a))
  const unscored = rest.map((agent) => {
    const raised = boost?.(agent) ?? 0
    return { agent, score: raised, raised }
  })
  const hits: Hit[] = [...ranked, ...unscored]
  return boost ? hits.sort((a, b) => b.score - a.score || a.agent.number - b.agent.number) : hits
}

type Hit = Omit<Found, 'record' | 'score'> & { readonly score: number }

/** One page of matches in registration order, and whether there are more. Stops early, so there is no total. */
export function lookUpAgents(
  context: Context,
  query: Omit<Query, 'order' | 'text'>,
): Pick<FoundPage, 'found' | 'visited'> & { more: boolean } {
  const { skip, take, caller } = query
  const options = { order: 'registration', skip, take, exactTotal: false } as const
  const { agents, total, visited } = context.catalog.index.list(selectionOf(context, query), options)
  return {
    found: agents.flatMap((agent) => toFound(context, caller, { agent, score: undefined })),
    visited,
    more: total > skip + take,
  }
}

const selectionOf = ({ grantsOf, hidden }: Context, { conditions, caller }: Pick<Query, 'conditions' | 'caller'>) => ({
  conditions,
  view: (agent: Agent) => viewOf(agent, caller, grantsOf),
  showsAllPublic: true,
  privateAgents: () => hidden.shownTo(caller).filter(isPrivate),
})

function toFound({ grantsOf }: Context, caller: Caller, hit: Omit<Found, 'record'>): Found[] {
  const record = viewOf(hit.agent, caller, grantsOf)
  return record ? [{ ...hit, record }] : []
}

/** Sorts by the names as the caller sees them: the order must not reveal private names. */
function sortByName({ grantsOf }: Context, caller: Caller, matches: { agent: Agent }[]): void {
  const names = new Map(matches.map(({ agent }) => [agent, viewOf(agent, caller, grantsOf)?.name ?? '']))
  matches.sort(({ agent: a }, { agent: b }) => {
    const [x = '', y = ''] = [names.get(a), names.get(b)]
    return x < y ? -1 : x > y ? 1 : a.number - b.number
  })
}
