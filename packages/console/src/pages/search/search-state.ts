import type { SearchRequest } from '@switchboard/client/discovery'
import type { JsonValue } from '@switchboard/protocol/json'

/** The filters of a search, in the order in which they are offered. The names are those of the API. */
export const FILTERS = [
  'tags',
  'capabilities',
  'protocols',
  'supported_languages',
  'publisher',
  'status',
  'verification',
  'authentication',
] as const
export type FilterName = (typeof FILTERS)[number]

/** Orders of the results; the first is the default. */
export const SORTS = ['relevance', 'name', 'newest'] as const
export type Sort = (typeof SORTS)[number]

/** Everything that decides what the search page shows; its address contains all of it. */
export interface SearchState {
  readonly query: string
  /** Search for the words as they are written. */
  readonly isExact: boolean
  readonly sort: Sort
  readonly filters: Readonly<Partial<Record<FilterName, readonly string[]>>>
}

/** Reads the state from the query string of the address; what is not understood is ignored. */
export function readState(params: URLSearchParams): SearchState {
  const chosen = FILTERS.flatMap((name) => {
    const values = [...new Set(params.getAll(name))].filter((value) => value !== '')
    return values.length === 0 ? [] : [[name, values]]
  })
  return {
    query: params.get('q') ?? '',
    isExact: params.get('exact') === 'true',
    sort: SORTS.find((sort) => sort === params.get('sort')) ?? SORTS[0],
    filters: Object.fromEntries(chosen),
  }
}

/** The query string of the address; defaults are left out. */
export function toParams({ query, isExact, sort, filters }: SearchState): URLSearchParams {
  const params = new URLSearchParams()
  if (query !== '') params.set('q', query)
  if (isExact) params.set('exact', 'true')
  if (sort !== SORTS[0]) params.set('sort', sort)
  for (const name of FILTERS) for (const value of filters[name] ?? []) params.append(name, value)
  return params
}

/** The state with one value of a filter switched on or off. */
export function withFilter(state: SearchState, name: FilterName, value: string, isOn: boolean): SearchState {
  // An agent has one state of verification, and the API takes one.
  const others = (state.filters[name] ?? []).filter((each) => !isSame(each, value) && name !== 'verification')
  return { ...state, filters: { ...state.filters, [name]: isOn ? [...others, value] : others } }
}

/** Whether a value of a filter is chosen. */
export const isChosen = ({ filters }: SearchState, name: FilterName, value: string): boolean =>
  filters[name]?.some((each) => isSame(each, value)) ?? false

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** How many values of filters are chosen. */
export const countFilters = ({ filters }: SearchState): number => Object.values(filters).flat().length

/** The request for a part of the results. */
export function toRequest({ query, isExact, sort, filters }: SearchState, skip: number, top: number): SearchRequest {
  const text = query.trim()
  const chosen = FILTERS.flatMap((name): [FilterName, JsonValue][] => {
    const values = filters[name] ?? []
    if (values.length === 0) return []
    return [[name, name === 'verification' ? { state: values[0] ?? '' } : [...values]]]
  })
  return {
    ...(text !== '' && { query: text, explain: true }),
    ...(isExact && { exact: true }),
    ...(chosen.length > 0 && { filters: Object.fromEntries(chosen) }),
    ...(sort !== SORTS[0] && { sort }),
    // Counts are the same for all pages.
    ...(skip === 0 && { facets: FILTERS }),
    includeMetadata: true,
    skip,
    top,
  }
}
