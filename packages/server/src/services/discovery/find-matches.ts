import { viewOf } from '../../policy/access.js'
import type { Context } from '../context.js'
import type { Readable } from '../registry/read.js'
import { type Query, selectionOf } from './query.js'
import { readText } from './read-text.js'

/** All matches of a query, to count them. */
export interface Matches {
  readonly matches: readonly Readable[]
  /** Agents that were checked one by one, for the rate limit. */
  readonly visited: number
}

/** Finds the same agents as `findAgents` lists on all its pages, in no particular order. */
export async function findMatches(
  context: Context,
  query: Pick<Query, 'text' | 'conditions' | 'caller' | 'callerLanguages' | 'trace'>,
): Promise<Matches> {
  const { index } = context.catalog
  const { caller, text: words } = query
  const selection = selectionOf(context, query)
  const toReadable = (agent: Readable['agent']): Readable[] => {
    const record = viewOf(agent, caller, context.grantsOf)
    return record ? [{ agent, record }] : []
  }
  // With text search switched off, a text orders the results and excludes none.
  if (words === undefined || !context.searchByText) {
    const { agents, visited } = index.list(selection, {
      order: 'registration',
      skip: 0,
      take: Number.POSITIVE_INFINITY,
      exactTotal: true,
    })
    return { matches: agents.flatMap(toReadable), visited }
  }
  const { text } = await readText(context, query, words, query.trace)
  const { matches, visited } = await index.search(text, selection, { skip: 0, take: 0, all: true })
  return { matches: matches.flatMap(toReadable), visited }
}
