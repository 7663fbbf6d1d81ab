import type { AgentRecord } from '@switchboard/protocol'
import {
  type Condition,
  type NamePattern,
  RANKING,
  readQuery,
  speaksProtocol,
  type TextEvidence,
  type TextQuery,
} from '@switchboard/search'
import type { Caller } from '../../policy/caller.js'
import { viewOf } from '../../policy/visibility.js'
import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { scoreFactorsOf } from './score-factors.js'

export { type Condition, type NamePattern, RANKING, speaksProtocol, type TextEvidence }

/** What is asked for, whichever draft asked. */
export interface Query {
  readonly conditions: readonly Condition[]
  /** Natural-language text; undefined: the conditions alone. */
  readonly text?: string | undefined
  /** Languages that the caller would like, besides those that the text names. */
  readonly languages?: readonly string[]
  /** `score`, best first; `name`, alphabetical; `registration`, oldest first. */
  readonly order: 'score' | 'name' | 'registration'
  readonly skip: number
  readonly take: number
  readonly caller: Caller
}

/** One agent as the caller may see it. */
export interface Found {
  readonly agent: Agent
  readonly record: AgentRecord
  readonly score: number | undefined
  /** The part of the score that words and meaning alone earn. */
  readonly relevance: number | undefined
}

export interface FoundPage {
  readonly found: readonly Found[]
  /** All matches that the caller may see; hidden ones are not counted. */
  readonly total: number
  /** What the caller should know of the answer. */
  readonly warnings: readonly string[]
  /** Which words and parts of an agent answered the text; nothing where there was none. */
  readonly evidenceOf: (hit: Found) => TextEvidence
}

/** Statuses that mean "not available now": left out unless they are asked for (C-21). */
export const AVAILABLE: Condition = { kind: 'status', anyOf: ['inactive', 'suspended'], excluded: true }

const TEXT_IS_OFF = 'search by text is off: the filters alone decide, words only order'

/** Every match, ranked and paged. */
export async function findAgents(context: Context, query: Query): Promise<FoundPage> {
  if (query.text === undefined) return findByConditions(context, query)
  const { text, warnings } = await readText(context, query.text, query.languages ?? [])
  const isPaged = query.order !== 'name' && context.searchByText
  const { ranked, total } = context.catalog.index.search(text, selectionOf(context, query), {
    skip: isPaged ? query.skip : 0,
    take: isPaged ? query.take : Number.POSITIVE_INFINITY,
    scoreFactor: (agent) => scoreFactorsOf(context, agent).factor,
  })
  const matches = context.searchByText ? [...ranked] : [...ranked, ...unscored(context, query, ranked)]
  if (query.order === 'name') sortByName(context, query.caller, matches)
  const page = isPaged ? matches : matches.slice(query.skip, query.skip + query.take)
  return {
    total: context.searchByText ? total : matches.length,
    found: page.flatMap(({ agent, score, relevance }) => toFound(context, query.caller, agent, score, relevance)),
    warnings,
    evidenceOf: ({ agent }) => context.catalog.index.evidence(text, agent),
  }
}

/** A query with its vectors; where meaning cannot be asked, words answer, and the caller is told (C-52). */
async function readText(
  { embeddings, searchByText }: Context,
  text: string,
  languages: readonly string[],
): Promise<{ text: TextQuery; warnings: string[] }> {
  const read = readQuery(text, { modelLanguages: embeddings.languages })
  const query = { ...read, namedLanguages: [...read.namedLanguages, ...languages] }
  if (!searchByText) return { text: { query, vectors: [] }, warnings: [TEXT_IS_OFF] }
  if (query.semanticWeight === 0) return { text: { query, vectors: [] }, warnings: [] }
  const { vectors, warning } = await embeddings.embed(query.texts)
  return { text: { query, vectors }, warnings: warning === undefined ? [] : [warning] }
}

function findByConditions(context: Context, query: Query): FoundPage {
  const matches = Array.from(context.catalog.index.select(selectionOf(context, query)), (agent) => ({ agent }))
  if (query.order === 'name') sortByName(context, query.caller, matches)
  const page = matches.slice(query.skip, query.skip + query.take)
  return {
    total: matches.length,
    found: page.flatMap(({ agent }) => toFound(context, query.caller, agent)),
    warnings: [],
    evidenceOf: () => ({ words: [], parts: [] }),
  }
}

/** Matches of the conditions that have nothing of the text. */
function unscored(context: Context, query: Query, ranked: readonly { agent: Agent }[]): Hit[] {
  const scored = new Set(ranked.map(({ agent }) => agent))
  const rest = Array.from(context.catalog.index.select(selectionOf(context, query))).filter((a) => !scored.has(a))
  return rest.map((agent) => ({ agent, score: 0, relevance: 0 }))
}

interface Hit {
  readonly agent: Agent
  readonly score: number
  readonly relevance: number
}

/** The matches of one page in order of registration, and whether there are more: no need to see them all. */
export function lookUpAgents(
  context: Context,
  query: Omit<Query, 'order' | 'text'>,
): { found: readonly Found[]; more: boolean } {
  const found: Agent[] = []
  let seen = 0
  for (const agent of context.catalog.index.select(selectionOf(context, query))) {
    if (seen++ < query.skip) continue
    if (found.length === query.take)
      return { found: found.flatMap((a) => toFound(context, query.caller, a)), more: true }
    found.push(agent)
  }
  return { found: found.flatMap((agent) => toFound(context, query.caller, agent)), more: false }
}

const selectionOf = ({ grantsOf }: Context, { conditions, caller }: Pick<Query, 'conditions' | 'caller'>) => ({
  conditions,
  view: (agent: Agent) => viewOf(agent, caller, grantsOf),
  showsAllPublic: true,
})

function toFound({ grantsOf }: Context, caller: Caller, agent: Agent, score?: number, relevance?: number): Found[] {
  const record = viewOf(agent, caller, grantsOf)
  return record ? [{ agent, record, score, relevance }] : []
}

/** By the names that the caller sees: the order must not tell a name that is private. */
function sortByName({ grantsOf }: Context, caller: Caller, matches: { agent: Agent }[]): void {
  const names = new Map(matches.map(({ agent }) => [agent, viewOf(agent, caller, grantsOf)?.name ?? '']))
  matches.sort(({ agent: a }, { agent: b }) => {
    const [x = '', y = ''] = [names.get(a), names.get(b)]
    return x < y ? -1 : x > y ? 1 : a.number - b.number
  })
}
