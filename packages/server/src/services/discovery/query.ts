import type { Condition, Facet } from '@switchboard/search'
import { viewOf } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import type { Span } from '../../telemetry/traces.js'
import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { isPrivate } from '../registry/hidden-agents.js'

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
  readonly callerLanguages?: readonly string[] | undefined
  /** Agents with these tags rank higher; others are not excluded. Has no effect without `text`. */
  readonly preferredTags?: readonly string[]
  /** `score`, best first; `name`, alphabetical; `registration`, oldest first; `newest`, the reverse. */
  readonly order: 'score' | 'name' | 'registration' | 'newest'
  /** Count the values of these among all matches. */
  readonly facets?: readonly Facet[] | undefined
  /** How many values of each are listed. */
  readonly facetLimit?: number | undefined
  readonly skip: number
  readonly take: number
  /** Whether to find out why the agents of the page match the text. */
  readonly explained?: boolean | undefined
  readonly caller: Caller
  /** The span that the search is part of. */
  readonly trace?: Span | undefined
}

/** What the caller sees of the agents that meet the conditions. */
export const selectionOf = (
  { grantsOf, hidden }: Context,
  { conditions, caller }: Pick<Query, 'conditions' | 'caller'>,
) => ({
  conditions,
  view: (agent: Agent) => viewOf(agent, caller, grantsOf),
  privateAgents: () => hidden.shownTo(caller).filter(isPrivate),
})
