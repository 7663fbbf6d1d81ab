import { type AgentRecord, directoryProtocols, foldTag, isObject, type JsonObject } from '@switchboard/protocol'

/** By what agents can be counted; the names are those of the filters for the same values. */
export const FACETS = [
  'tags',
  'capabilities',
  'protocols',
  'supported_languages',
  'authentication',
  'publisher',
  'status',
  'verification',
] as const

export type Facet = (typeof FACETS)[number]

/** A value, and how many agents a filter for it would find. */
export interface FacetValue {
  readonly value: string
  readonly count: number
}

/** What is counted of an agent: the record as the caller sees it. */
export interface CountedAgent {
  readonly number: number
  readonly record: AgentRecord
  readonly status: string
  readonly registry?: JsonObject
}

/** Counts the values of agents. */
export interface FacetCounter {
  /** Reads the values of an agent in advance, so that counting does not have to. */
  learn(number: number, record: AgentRecord): void
  forget(number: number): void
  /**
   * The values of each facet: those with most agents first, ties in alphabetical order. Values that differ only in case are
   * one, in the spelling of a counted agent that is first in alphabetical order.
   *
   * @param limit values of a facet; those that `namedIn` names are listed whatever their counts
   */
  count(
    facets: readonly Facet[],
    agents: readonly CountedAgent[],
    limit: number,
    namedIn?: (facet: Facet) => readonly string[],
  ): Map<Facet, FacetValue[]>
}

/** How values are read from a record. `status` and `verification` are not part of it. */
const READERS: Partial<Record<Facet, (record: AgentRecord) => readonly string[]>> = {
  tags: ({ tags }) => tags,
  capabilities: ({ capabilities }) => capabilities.map(({ name }) => name),
  protocols: directoryProtocols,
  // A filter for "zh" also finds "zh-CN" (C-13).
  supported_languages: ({ languages = [] }) => languages.map((tag) => tag.toLowerCase().split('-')[0] ?? tag),
  authentication: ({ authentication }) => [authentication?.type ?? 'none'],
  publisher: ({ publisher }) => (publisher === undefined ? [] : [publisher]),
}

/** Values that this makes equal are one value. */
const fold = (facet: Facet, value: string): string =>
  facet === 'tags' || facet === 'capabilities' || facet === 'supported_languages' ? foldTag(value) : value

/** Values of one facet that count for an agent: what it costs to count must not depend on what one publisher writes. */
const MAX_VALUES_OF_AGENT = 50
/** Spellings after which no new ones are counted, until the numbers start anew. */
const MAX_SPELLINGS = 500_000
/** Counts after which the numbers may start anew: values of agents that are gone are never removed one by one. */
const COUNTS_BEFORE_RESTART = 1000

/** The number of agents that declare no languages, which is not that of a spelling. */
const ANY_LANGUAGE = 0

/** Numbers for the spellings of values, so that counting is adding up integers. */
interface Numbering {
  readonly spellings: string[]
  /** For each spelling the number of its value, which other spellings may share, and what they have in common. */
  readonly valueNumberOf: number[]
  readonly folded: string[]
  readonly facetOf: Facet[]
  readonly spellingNumbers: Map<Facet, Map<string, number>>
  readonly valueNumbers: Map<Facet, Map<string, number>>
  /** How many values there are. */
  values: number
  /** The spellings of each agent, one for each value. A WeakMap of records would make garbage collection slow. */
  readonly known: Map<number, { readonly record: AgentRecord; readonly numbers: readonly number[] }>
}

const createNumbering = (): Numbering => ({
  spellings: [''],
  valueNumberOf: [0],
  folded: [''],
  facetOf: ['supported_languages'],
  spellingNumbers: new Map(FACETS.map((facet) => [facet, new Map()])),
  valueNumbers: new Map(FACETS.map((facet) => [facet, new Map()])),
  values: 1,
  known: new Map(),
})

/** Creates a counter. */
export function createFacetCounter(): FacetCounter {
  let numbering = createNumbering()
  let counts = 0

  const read = (record: AgentRecord): readonly number[] => {
    const byValue = new Map<number, number>()
    for (const facet of FACETS) {
      for (const spelling of READERS[facet]?.(record).slice(0, MAX_VALUES_OF_AGENT) ?? []) {
        const number = numberOf(numbering, facet, spelling)
        if (number === undefined) continue
        const value = numbering.valueNumberOf[number] ?? 0
        if (!byValue.has(value)) byValue.set(value, number)
      }
    }
    if (record.languages === undefined) byValue.set(ANY_LANGUAGE, ANY_LANGUAGE)
    // A copy has no room for more numbers, which a list of unknown length gets.
    return [...byValue.values()].slice()
  }
  const learn = (number: number, record: AgentRecord): readonly number[] => {
    const numbers = read(record)
    numbering.known.set(number, { record, numbers })
    return numbers
  }
  const numbersOf = ({ number, record }: CountedAgent): readonly number[] => {
    const known = numbering.known.get(number)
    if (!known) return learn(number, record)
    // Another record: what this caller sees of the agent is less than what it contains.
    return known.record === record ? known.numbers : read(record)
  }

  return {
    learn: (number, record) => void learn(number, record),
    forget: (number) => void numbering.known.delete(number),
    count(facets, agents, limit, namedIn = () => []) {
      if (++counts >= COUNTS_BEFORE_RESTART && numbering.spellings.length >= MAX_SPELLINGS) {
        numbering = createNumbering()
        counts = 0
      }
      const tallies = new Map(facets.map((facet) => [facet, new Map<string, FacetValue>()]))
      const isOfRecord = facets.some((facet) => READERS[facet])
      const numbers = isOfRecord ? agents.map(numbersOf) : []
      const { values, anyLanguage } = tallyNumbers(numbering, numbers)
      for (const each of values) tallies.get(each.facet)?.set(each.key, each)
      for (const [facet, read] of [['status', statusOf] as const, ['verification', verificationOf] as const]) {
        const tally = tallies.get(facet)
        if (tally) for (const [value, count] of countEach(agents, read)) tally.set(value, { value, count })
      }
      return new Map(
        [...tallies].map(([facet, tally]) => {
          const named = namedIn(facet)
          for (const value of named)
            if (!tally.has(fold(facet, value))) tally.set(fold(facet, value), { value, count: 0 })
          const kept = new Set(named.map((value) => tally.get(fold(facet, value))))
          const first = best([...tally.values()], limit)
          const listed = [...first, ...[...kept].filter((each) => each !== undefined && !first.includes(each))]
          // A filter for a language passes agents that declare none.
          const more = facet === 'supported_languages' ? anyLanguage : 0
          return [facet, listed.flatMap((each) => (each ? [{ value: each.value, count: each.count + more }] : []))]
        }),
      )
    },
  }
}

/** Undefined if there is no number left. */
function numberOf(numbering: Numbering, facet: Facet, spelling: string): number | undefined {
  const { spellings, valueNumberOf, folded, facetOf } = numbering
  const spellingNumbers = numbering.spellingNumbers.get(facet)
  const valueNumbers = numbering.valueNumbers.get(facet)
  const known = spellingNumbers?.get(spelling)
  if (known !== undefined || spellings.length >= MAX_SPELLINGS) return known
  const number = spellings.push(spelling) - 1
  const key = fold(facet, spelling)
  folded.push(key)
  const value = valueNumbers?.get(key) ?? numbering.values++
  valueNumbers?.set(key, value)
  valueNumberOf.push(value)
  facetOf.push(facet)
  spellingNumbers?.set(spelling, number)
  return number
}

/** Adds up numbers of spellings, then spellings of the same value. */
function tallyNumbers(
  { spellings, valueNumberOf, folded, facetOf }: Numbering,
  agents: readonly (readonly number[])[],
): { values: (FacetValue & { facet: Facet; key: string })[]; anyLanguage: number } {
  const counts = new Uint32Array(spellings.length)
  for (const numbers of agents) for (const number of numbers) counts[number] = (counts[number] ?? 0) + 1
  const byValue = new Map<number, { facet: Facet; key: string; value: string; count: number }>()
  for (const [number, count] of counts.entries()) {
    if (count === 0 || number === ANY_LANGUAGE) continue
    const [spelling = '', facet = 'tags', value = 0] = [spellings[number], facetOf[number], valueNumberOf[number]]
    const tally = byValue.get(value)
    if (!tally) byValue.set(value, { facet, key: folded[number] ?? '', value: spelling, count })
    else {
      tally.count += count
      if (spelling < tally.value) tally.value = spelling
    }
  }
  return { values: [...byValue.values()], anyLanguage: counts[ANY_LANGUAGE] ?? 0 }
}

const statusOf = ({ status }: CountedAgent): string | undefined => status

function verificationOf({ registry }: CountedAgent): string | undefined {
  const { state } = isObject(registry?.verification) ? registry.verification : {}
  return typeof state === 'string' ? state : undefined
}

function countEach(
  agents: readonly CountedAgent[],
  read: (agent: CountedAgent) => string | undefined,
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const agent of agents) {
    const value = read(agent)
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

const compare = (a: FacetValue, b: FacetValue): number => b.count - a.count || (a.value < b.value ? -1 : 1)

/** The first `limit` in order. Values with too small a count are left out first, because there can be very many. */
function best(values: readonly FacetValue[], limit: number): FacetValue[] {
  const counts = Uint32Array.from(values, ({ count }) => count).sort()
  const least = counts.at(-limit) ?? 0
  return values
    .filter(({ count }) => count >= least)
    .sort(compare)
    .slice(0, limit)
}
