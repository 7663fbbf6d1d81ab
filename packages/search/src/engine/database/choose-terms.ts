import type { WordQuery } from '../../words/word-query.js'
import type { Corpus } from './corpus.js'
import type { TermQuery } from './text-tables.js'

/** Agents that are scored roughly, of which the best are ranked. */
const SCORED_AGENTS = 2500
/** Impact of a term where it is not loud, compared with where it is. */
const QUIET = 0.5

/** Terms of a query that find enough agents. */
export interface ChosenTerms extends TermQuery {
  /** Whether they find every agent that contains a term of the query. */
  readonly isAll: boolean
}

/**
 * Chooses the terms that say most about an agent: the rarest ones, and of the more frequent ones only the agents in whose
 * text they are loud, until they select about as many agents as can be scored in a few milliseconds.
 *
 * @param wanted agents that must be selected, if there are as many
 * @param share of all agents that the caller accepts
 */
export function chooseTerms({ terms }: WordQuery, corpus: Corpus, wanted: number, share: number): ChosenTerms {
  const weighed = terms.map(({ term, weight }) => ({ term, weight: weight * corpus.idf(term) }))
  const entries = weighed
    .flatMap(({ term, weight }) => {
      const { agents, loud } = corpus.frequenciesOf(term)
      return [
        { term, isLoud: true, bound: weight, agents: loud },
        { term, isLoud: false, bound: QUIET * weight, agents },
      ]
    })
    .sort((a, b) => b.bound - a.bound)
  const limit = SCORED_AGENTS / share
  const any: typeof entries = []
  let selected = 0
  for (const entry of entries) {
    if (selected + entry.agents > limit) continue
    any.push(entry)
    selected += entry.agents
  }
  const left = entries.filter((entry) => !any.includes(entry)).sort((a, b) => a.agents - b.agents)
  for (const entry of left) {
    if (selected * share >= wanted) break
    any.push(entry)
    selected += entry.agents
  }
  const whole = new Set(any.flatMap(({ term, isLoud }) => (isLoud ? [] : term)))
  return {
    any: any.filter(({ term, isLoud }) => !isLoud || !whole.has(term)),
    weighed,
    isAll: terms.every(({ term }) => whole.has(term)),
  }
}

/** All agents that contain a term of the query. */
export const allTerms = ({ weighed }: TermQuery): ChosenTerms => ({
  any: weighed.map(({ term }) => ({ term, isLoud: false })),
  weighed,
  isAll: true,
})
