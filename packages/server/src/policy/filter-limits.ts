import { countValues, DirectoryError, type Issue, invalid, type JsonValue } from '@switchboard/protocol'

/** Filters of one request: the drafts together define fewer. */
export const MAX_FILTERS = 32
/** Values of one filter, and of all filters of a request, with those inside lists and objects: agents are compared with each. */
export const MAX_FILTER_VALUES = 100
export const MAX_TOTAL_VALUES = 200
/** Parameters of a query string, repeated ones included. */
export const MAX_PARAMETERS = 200

/**
 * Rejects more filters, or more values in one of them, than a search may have. It is the same limit for the filters of
 * every draft.
 *
 * @param at where the filters are: the pointer of their object with a slash, or `?` for query parameters
 */
export function assertFilterLimits(filters: Readonly<Record<string, JsonValue | undefined>>, at: string): void {
  const counts = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, count: valuesOf(value) }],
  )
  const place = at === '?' ? 'the query' : at.slice(0, -1) || 'the request'
  if (counts.length > MAX_FILTERS) throw tooMany(place, counts.length, 'filters', MAX_FILTERS)
  const issues = counts.flatMap(({ name, count }): Issue[] => {
    if (count <= MAX_FILTER_VALUES) return []
    const message = `has ${count} values, and at most ${MAX_FILTER_VALUES} are allowed: send fewer, or several requests`
    return [{ at: at + name, message }]
  })
  if (issues.length > 0) throw invalid(issues)
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  if (total > MAX_TOTAL_VALUES) throw tooMany(place, total, 'values in its filters', MAX_TOTAL_VALUES)
}

const tooMany = (place: string, count: number, what: string, limit: number): DirectoryError =>
  new DirectoryError(
    'invalid_request',
    `${place} has ${count} ${what}, and at most ${limit} are allowed: send fewer, or several requests`,
  )

/** A list counts as its items. */
const valuesOf = (value: JsonValue): number => countValues(value) - (Array.isArray(value) ? 1 : 0)

/** Rejects a query string with too many parameters. */
export function assertParameterCount(query: string): void {
  let count = query === '' ? 0 : 1
  for (let at = query.indexOf('&'); at >= 0; at = query.indexOf('&', at + 1)) count++
  if (count > MAX_PARAMETERS) throw tooMany('the query', count, 'parameters', MAX_PARAMETERS)
}
