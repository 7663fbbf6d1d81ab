import type { AgentIndex, Condition, CountedAgent, Facet, FacetValue, Selection, TextQuery } from '@switchboard/search'
import type { Agent } from '../registry/catalog.js'

/** The most frequent values of each facet. */
export type FacetCounts = Readonly<Partial<Record<Facet, readonly FacetValue[]>>>

/** How many values of a facet are listed, besides those that the query filters by. */
export const DEFAULT_FACET_VALUES = 20
export const MAX_FACET_VALUES = 100

/** Agents that are counted in the time in which one is checked against a filter. */
const COUNTED_PER_CHECK = 10

/** A value is an alternative to the others that are chosen, and not one more that an agent must have. */
const ALTERNATIVES: ReadonlySet<Facet> = new Set(['authentication', 'publisher', 'status', 'verification'])

/** A search by text that has been made, with all agents that it found. */
export interface FoundByText {
  readonly text: TextQuery
  readonly all: readonly Agent[]
}

/** The part of a query that matters for counts. */
export interface CountedQuery {
  readonly conditions: readonly Condition[]
  readonly facets?: readonly Facet[] | undefined
  /** How many values of each are listed; default: 20. */
  readonly facetLimit?: number | undefined
}

export interface CountedFacets {
  readonly facets?: FacetCounts
  /** Agents that were checked or counted, for the rate limit. */
  readonly visited: number
}

/**
 * Counts, for every value, the agents that the caller would find if the query filtered by it too; where values are
 * alternatives, if it filtered by it instead.
 *
 * @param selectionFor what the caller sees under these conditions
 */
export async function countFacets(
  index: AgentIndex<Agent>,
  { facets, conditions, facetLimit = DEFAULT_FACET_VALUES }: CountedQuery,
  selectionFor: (conditions: readonly Condition[]) => Selection<Agent>,
  found?: FoundByText,
): Promise<CountedFacets> {
  if (facets === undefined) return { visited: 0 }
  const { view } = selectionFor(conditions)
  let visited = 0
  const matching = async (conditions: readonly Condition[]): Promise<readonly Agent[]> => {
    const selection = selectionFor(conditions)
    if (!found) return [...index.select(selection)]
    const repeated = await index.search(found.text, selection, { skip: 0, take: 0, all: true })
    visited += repeated.visited
    return repeated.matches
  }
  const shown = (agents: readonly Agent[]): CountedAgent[] =>
    agents.flatMap((agent) => {
      const record = view(agent)
      if (!record) return []
      return [{ number: agent.number, record, status: agent.status, registry: agent.registry }]
    })
  const namedIn = (facet: Facet): string[] =>
    conditions.flatMap((each) => (facetOf(each) === facet ? valuesOf(each) : []))
  /** For each facet the conditions that stay, and whether these are all. */
  const others = (facet: Facet): readonly Condition[] =>
    ALTERNATIVES.has(facet) ? conditions.filter((each) => facetOf(each) !== facet) : conditions
  const isRelaxed = (facet: Facet): boolean => others(facet).length < conditions.length

  const all = shown(found ? found.all : await matching(conditions))
  const counts = index.count(
    facets.filter((facet) => !isRelaxed(facet)),
    all,
    facetLimit,
    namedIn,
  )
  let counted = all.length
  for (const facet of facets.filter(isRelaxed)) {
    const agents = shown(await matching(others(facet)))
    counted += agents.length
    for (const [name, values] of index.count([facet], agents, facetLimit, namedIn)) counts.set(name, values)
  }
  const inOrder = facets.map((facet) => [facet, counts.get(facet) ?? []])
  return { facets: Object.fromEntries(inOrder), visited: visited + Math.ceil(counted / COUNTED_PER_CHECK) }
}

/** The facet whose values a condition names. */
function facetOf(condition: Condition): Facet | undefined {
  switch (condition.kind) {
    case 'tag':
      return 'tags'
    case 'capability':
      return 'capabilities'
    case 'language':
      return 'supported_languages'
    case 'protocol':
      return 'protocols'
    case 'authentication':
    case 'publisher':
    case 'status':
      return condition.kind
    case 'member':
      return condition.name === 'verification' ? 'verification' : undefined
    default:
      return undefined
  }
}

function valuesOf(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'tag':
    case 'capability':
    case 'language':
      return condition.all
    case 'protocol':
      return [condition.value]
    case 'authentication':
    case 'publisher':
      return condition.anyOf
    case 'status':
      return condition.excluded ? [] : condition.anyOf
    default:
      return []
  }
}
