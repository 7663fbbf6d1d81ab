import { profileTags } from '@switchboard/protocol'
import { isDecidedByTerms, type Ranked, type RankedPage, type TextEvidence } from '@switchboard/search'
import { viewOf } from '../../policy/access.js'
import { tagShare } from '../../policy/taxonomy.js'
import type { Span } from '../../telemetry/traces.js'
import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { type Query, selectionOf } from './query.js'
import { type ReadText, readText } from './read-text.js'
import { type ScoreFactors, scoreFactorsOf } from './score-factors.js'
import type { CachedSearch } from './search-cache.js'

/** The agents that match a text, ranked. */
export interface TextSearch extends ReadText {
  /** The page that the query asks for, or all if it is not in the order of scores. */
  readonly ranked: readonly Ranked<Agent>[]
  readonly total: number
  /** All matches, if facets are to be counted. */
  readonly matches: readonly Agent[]
  readonly visited: number
  /** Whether the words of all agents were indexed. */
  readonly isComplete: boolean
  readonly boost: ((agent: Agent) => number) | undefined
  /** Why each of the agents matches, by number. */
  evidenceFor(agents: readonly Agent[]): Promise<ReadonlyMap<number, TextEvidence>>
  factorsOf(agent: Agent): ScoreFactors
}

export const NO_EVIDENCE: TextEvidence = { words: [], parts: [] }

/** Whether a search needs no more than its page: all other orders are made of all matches. */
export const isPagedByScore = ({ searchByText }: Context, { order }: Query): boolean =>
  order !== 'name' && order !== 'newest' && searchByText

/** Searches, or takes what the same search has found before. */
export async function searchByText(
  context: Context,
  query: Query,
  words: string,
  span: Span | undefined,
): Promise<TextSearch> {
  const { searches, metrics } = context
  const key = keyOf(context, query, words)
  const known = key === undefined ? undefined : searches.get(key)
  if (known && isCurrent(context, known)) {
    metrics.searchRepeated()
    span?.set({ 'switchboard.search.repeated': true })
    return toSearch(context, query, known)
  }
  const { version } = context.catalog.index
  const read = await readText(context, query, words, span)
  // Grants may have changed while the text was read, or during the search: then the result belongs to neither view.
  const seen = keyOf(context, query, words)
  const { found, matches, isComplete } = await search(context, query, read)
  const isKept = seen !== undefined && seen === key && seen === keyOf(context, query, words)
  if (isKept && read.warnings.length === 0 && isComplete) searches.set(seen, version, found)
  return { ...toSearch(context, query, found), matches, isComplete }
}

/** Agents after the page that are most likely to move up: the search is made again when their score factors change. */
const RIVALS = 30

/** Searches the index. */
async function search(
  context: Context,
  query: Query,
  read: ReadText,
): Promise<{ found: CachedSearch } & Pick<RankedPage<Agent>, 'matches' | 'isComplete'>> {
  const { index } = context.catalog
  const isPaged = isPagedByScore(context, query)
  const factorOf = factorsFor(context, read)
  const started = performance.now()
  let rankingStarted = started
  const { ranked, total, visited, matches, isComplete } = await index.search(read.text, selectionOf(context, query), {
    skip: isPaged ? query.skip : 0,
    take: isPaged ? query.take + RIVALS : Number.POSITIVE_INFINITY,
    scoreFactor: (agent) => factorOf(agent).factor,
    boost: boostOf(context, query),
    all: query.facets !== undefined,
    onCandidates: () => {
      rankingStarted = performance.now()
    },
  })
  context.metrics.searchStage('candidates', rankingStarted - started)
  context.metrics.searchStage('ranking', performance.now() - rankingStarted)
  const hits = ranked.map(({ agent, ...hit }) => ({ ...hit, number: agent.number }))
  const factors = ranked.map(({ agent }) => ({ number: agent.number, factor: factorOf(agent).factor }))
  const page = isPaged ? hits.slice(0, query.take) : hits
  return { found: { read, hits: page, total, visited, factors, evidence: new Map() }, matches, isComplete }
}

/** The agents as they are now: some may have been refreshed since the search was made. */
function toSearch(context: Context, query: Query, { read, hits, total, visited, evidence }: CachedSearch): TextSearch {
  const { index } = context.catalog
  return {
    ...read,
    ranked: hits.flatMap(({ number, ...hit }) => {
      const agent = index.byNumber(number)
      return agent ? [{ ...hit, agent }] : []
    }),
    total,
    matches: [],
    visited,
    isComplete: true,
    boost: boostOf(context, query),
    async evidenceFor(agents) {
      const missing = agents.filter(({ number }) => !evidence.has(number))
      const found = missing.length > 0 ? await index.evidence(read.text, missing) : []
      for (const [i, { number }] of missing.entries()) evidence.set(number, found[i] ?? NO_EVIDENCE)
      return evidence
    },
    factorsOf: factorsFor(context, read),
  }
}

function factorsFor(context: Context, { text }: ReadText): (agent: Agent) => ScoreFactors {
  const choiceOf = context.choices?.factorsFor(text.query) ?? (() => 1)
  return (agent) => scoreFactorsOf(context, agent, choiceOf(agent))
}

/** Longer queries are rarely repeated, and would take much of the cache. */
const MAX_KEY_LENGTH = 4000
/** Callers who see more private agents than this, such as administrators, search anew. */
const MAX_SHOWN = 100

/**
 * What a search depends on besides the index and score factors; undefined if it is not worth keeping, or depends on more
 * than that. Callers have the same key only if they see the same of every agent.
 */
function keyOf(context: Context, query: Query, words: string): string | undefined {
  const { conditions, exact, languages, callerLanguages, preferredTags, skip, take, facets, caller } = query
  if (!isPagedByScore(context, query) || facets !== undefined || !conditions.every(isDecidedByTerms)) return undefined
  const shown = context.hidden.shownTo(caller)
  if (shown.length > MAX_SHOWN) return undefined
  const visible = shown.map((agent) => [agent.number, viewOf(agent, caller, context.grantsOf) === agent.record])
  const key = JSON.stringify([words, conditions, exact, languages, callerLanguages, preferredTags, skip, take, visible])
  return key.length > MAX_KEY_LENGTH ? undefined : key
}

/** Differences of factors that change no order: they come from the age of agents, which grows all the time. */
const TOLERANCE = 1e-6

/** Whether the agents of the page and those after it still have the same score factors. */
function isCurrent(context: Context, { read, factors }: CachedSearch): boolean {
  const factorOf = factorsFor(context, read)
  return factors.every(({ number, factor }) => {
    const agent = context.catalog.byNumber(number)
    return agent !== undefined && Math.abs(factorOf(agent).factor - factor) < TOLERANCE
  })
}

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
