import type { AgentRecord } from '@switchboard/protocol'
import { type Condition, type NamePattern, speaksProtocol } from '@switchboard/search'
import type { Caller } from '../policy/caller.js'
import { viewOf } from '../policy/visibility.js'
import type { Agent } from './catalog.js'
import type { Context } from './context.js'

export { type Condition, type NamePattern, speaksProtocol }

/** What is asked for, whichever draft asked. */
export interface Query {
  readonly conditions: readonly Condition[]
  /** Natural-language text; undefined: the conditions alone. */
  readonly text?: string | undefined
  /** `score`, best first; `name`, alphabetical; `registration`, oldest first. */
  readonly order: 'score' | 'name' | 'registration'
  readonly skip: number
  readonly take: number
  readonly caller: Caller
  /** Words decide the order only, and not who is in the answer (C-52). */
  readonly wordsOnlyOrder?: boolean
}

/** One agent as the caller may see it. */
export interface Found {
  readonly agent: Agent
  readonly record: AgentRecord
  readonly score: number | undefined
}

export interface FoundPage {
  readonly found: readonly Found[]
  /** All matches that the caller may see; hidden ones are not counted. */
  readonly total: number
}

/** Statuses that mean "not available now": left out unless they are asked for (C-21). */
export const AVAILABLE: Condition = { kind: 'status', anyOf: ['inactive', 'suspended'], excluded: true }

/** Every match, ranked and paged. */
export function findAgents(context: Context, query: Query): FoundPage {
  const matches = ranked(context, query)
  if (query.order === 'name') sortByName(context, query.caller, matches)
  const page = matches.slice(query.skip, query.skip + query.take)
  return {
    total: matches.length,
    found: page.flatMap(({ agent, score }) => toFound(context, query.caller, agent, score)),
  }
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

function ranked(context: Context, query: Query): { agent: Agent; score?: number }[] {
  const { index } = context.catalog
  const selection = selectionOf(context, query)
  if (query.text === undefined) return Array.from(index.select(selection), (agent) => ({ agent }))
  const byWords = demoted(index.search(query.text, selection))
  if (!query.wordsOnlyOrder) return byWords
  const scored = new Set(byWords.map(({ agent }) => agent))
  const rest = Array.from(index.select(selection)).filter((agent) => !scored.has(agent))
  return [...byWords, ...rest.map((agent) => ({ agent, score: 0 }))]
}

/** Status words of agents that still work, but should not come before those in service (C-21). */
const DEMOTED = new Set(['deprecated', 'testing'])
/** What is left of their score: enough to be found, not enough to win among equals. */
const DEMOTION = 0.8

function demoted(hits: { agent: Agent; score: number }[]): { agent: Agent; score: number }[] {
  if (!hits.some(({ agent }) => DEMOTED.has(agent.status))) return hits
  return hits
    .map(({ agent, score }) => ({ agent, score: DEMOTED.has(agent.status) ? score * DEMOTION : score }))
    .sort((a, b) => b.score - a.score || a.agent.number - b.agent.number)
}

const selectionOf = ({ grantsOf }: Context, { conditions, caller }: Pick<Query, 'conditions' | 'caller'>) => ({
  conditions,
  view: (agent: Agent) => viewOf(agent, caller, grantsOf),
})

function toFound({ grantsOf }: Context, caller: Caller, agent: Agent, score?: number): Found[] {
  const record = viewOf(agent, caller, grantsOf)
  return record ? [{ agent, record, score }] : []
}

/** By the names that the caller sees: the order must not tell a name that is private. */
function sortByName({ grantsOf }: Context, caller: Caller, matches: { agent: Agent }[]): void {
  const names = new Map(matches.map(({ agent }) => [agent, viewOf(agent, caller, grantsOf)?.name ?? '']))
  matches.sort(({ agent: a }, { agent: b }) => {
    const [x = '', y = ''] = [names.get(a), names.get(b)]
    return x < y ? -1 : x > y ? 1 : a.number - b.number
  })
}
