import type { AgentRecord } from '@switchboard/protocol'
import {
  type Condition,
  type Correction,
  createCalibration,
  type ScoreParts,
  type TextEvidence,
  type TextQuery,
} from '@switchboard/search'
import { viewOf } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import type { Span } from '../../telemetry/traces.js'
import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { countFacets, type FacetCounts, type FoundByText } from './count-facets.js'
import { type Query, selectionOf } from './query.js'
import { type ScoreFactors, scoreFactorsOf } from './score-factors.js'
import { isPagedByScore, NO_EVIDENCE, searchByText } from './search-by-text.js'

/** One result, as the caller may see it. */
export interface Found {
  readonly agent: Agent
  readonly record: AgentRecord
  readonly score: number | undefined
  /** What the score before factors and preferences consists of; undefined without text. */
  readonly parts?: ScoreParts | undefined
  /** By how much the agent's own score was lowered because better results are nearly the same. */
  readonly duplicateLoss?: number | undefined
  /** The score before the agent was compared with other results. */
  readonly ownScore?: number | undefined
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
  /** How many matches have which values, if the query asks for it. */
  readonly facets?: FacetCounts | undefined
  /** Why an agent matches the text; empty without text, and unless the query is to be explained. */
  readonly evidenceOf: (hit: Found) => TextEvidence
  readonly factorsOf: (hit: Found) => ScoreFactors
  /** Some of the results, with the scores that they have if there are no others. */
  readonly rescore: (accepted: readonly Found[]) => Found[]
  /** The id with which callers say which of these they chose; undefined if nothing is learned from this search. */
  readonly searchIdFor: (shown: readonly Found[]) => string | undefined
}

const OUT_OF_SERVICE = ['inactive', 'suspended']

/** Excludes agents that are out of service, unless the caller asks for them (C-21). */
export const AVAILABLE: Condition = { kind: 'status', anyOf: OUT_OF_SERVICE, excluded: true }

export const isAvailable = (status: string): boolean => !OUT_OF_SERVICE.includes(status)

const IS_INCOMPLETE = 'the index is still being built: some agents are not found by words yet'
const IS_STALE = 'some results are copies from a directory that has not been heard for a while'

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
  const isPaged = isPagedByScore(context, query)
  const search = await searchByText(context, query, words, span)
  const { text, ranked, total, boost } = search
  const counted = await countMatches(context, query, context.searchByText ? { text, all: search.matches } : undefined)
  const matches = context.searchByText ? [...ranked] : withUnscored(context, query, ranked, boost)
  if (query.order === 'name') sortByName(context, query.caller, matches)
  if (query.order === 'newest') matches.sort((a, b) => b.agent.number - a.agent.number)
  const page = isPaged ? matches : matches.slice(query.skip, query.skip + query.take)
  const evidence = query.explained ? await search.evidenceFor(page.map(({ agent }) => agent)) : undefined
  return {
    total: context.searchByText ? total : matches.length,
    facets: counted.facets,
    visited: search.visited + counted.visited + (isPaged ? Math.min(query.skip, total) : matches.length),
    found: page.flatMap((hit) => toFound(context, query.caller, hit)),
    warnings: [
      ...search.warnings,
      ...(search.isComplete ? [] : [IS_INCOMPLETE]),
      ...staleness(page),
      ...context.storeStatus.warnings(),
    ],
    corrected: search.corrected,
    suggestions: total === 0 ? await context.catalog.index.suggest(search.unknown) : [],
    evidenceOf: ({ agent }) => evidence?.get(agent.number) ?? NO_EVIDENCE,
    factorsOf: ({ agent }) => search.factorsOf(agent),
    rescore: (accepted) => rescore(accepted, text),
    searchIdFor: (shown) =>
      query.order === 'score'
        ? context.choices?.idFor(
            text.query,
            shown.map(({ agent }) => agent),
          )
        : undefined,
  }
}

function rescore(accepted: readonly Found[], { query }: TextQuery): Found[] {
  const own = accepted.map(({ agent, ownScore = 0 }) => ({ number: agent.number, score: ownScore }))
  const calibrate = createCalibration(own, query)
  let lowest = 1
  return accepted.map((hit, at) => {
    lowest = Math.min(lowest, calibrate(own[at]?.score ?? 0))
    return { ...hit, score: lowest }
  })
}

/** A warning if a copy may have changed at its origin, because nothing is heard of the peer that supplies it. */
const staleness = (page: readonly { readonly agent: Agent }[]): string[] =>
  page.some(({ agent }) => agent.findings.members.peer !== undefined) ? [IS_STALE] : []

async function findByConditions(context: Context, query: Query): Promise<FoundPage> {
  const order = query.order === 'score' ? 'registration' : query.order
  const { agents, total, visited } = context.catalog.index.list(selectionOf(context, query), {
    order,
    skip: query.skip,
    take: query.take,
    exactTotal: true,
  })
  const counted = await countMatches(context, query)
  return {
    total,
    facets: counted.facets,
    visited: visited + counted.visited,
    found: agents.flatMap((agent) => toFound(context, query.caller, { agent, score: undefined })),
    warnings: [...staleness(agents.map((agent) => ({ agent }))), ...context.storeStatus.warnings()],
    corrected: [],
    suggestions: [],
    evidenceOf: () => NO_EVIDENCE,
    factorsOf: ({ agent }) => scoreFactorsOf(context, agent, 1),
    rescore: (accepted) => [...accepted],
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

const countMatches = (context: Context, query: Query, found?: FoundByText): ReturnType<typeof countFacets> =>
  countFacets(context.catalog.index, query, (conditions) => selectionOf(context, { ...query, conditions }), found)

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
