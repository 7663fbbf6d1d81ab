import { invalid } from '@switchboard/protocol'
import type { Condition, NamePattern } from '@switchboard/search'
import { AVAILABLE } from '../../services/discovery/find.js'
import { wholeNumber } from '../read-request.js'

/** Maximum number of agents on a page; published in /.well-known/ad. */
export const MAX_COUNT = 100

/** Parameters of a lookup, in the order of the URI template (AD §3.1). */
export const LOOKUP_PARAMETERS = ['agent', 'protocol', 'cap_name', 'cap_type', 'tag', 'page', 'count'] as const

export interface Lookup {
  readonly conditions: readonly Condition[]
  readonly page: number
  readonly count: number
}

/** Reads a lookup (AD §5.1): all filters must match, exactly or by a prefix and `*`; unknown parameters are ignored. */
export function parseLookup(params: URLSearchParams): Lookup {
  const text = (name: string): string | undefined => params.get(name) ?? undefined
  const agent = namePattern('agent', text('agent'))
  const name = namePattern('cap_name', text('cap_name'))
  const [protocol, type, tag] = [text('protocol'), text('cap_type'), text('tag')]
  const ofCapability = { ...(name && { name }), ...(type !== undefined && { type }), ...(tag !== undefined && { tag }) }
  return {
    conditions: [
      ...(agent ? [{ kind: 'agent', name: agent } satisfies Condition] : []),
      ...(protocol === undefined ? [] : [{ kind: 'protocol', value: protocol } satisfies Condition]),
      ...(Object.keys(ofCapability).length > 0
        ? [{ kind: 'directory-capability', ...ofCapability } satisfies Condition]
        : []),
      AVAILABLE,
    ],
    page: wholeNumber(params, 'page', 0) ?? 0,
    count: Math.min(wholeNumber(params, 'count', 1) ?? MAX_COUNT, MAX_COUNT),
  }
}

/** `*` is allowed only at the end (C-54), and %2A counts as `*` because the value is decoded first (C-98). */
function namePattern(parameter: string, value: string | undefined): NamePattern | undefined {
  if (value === undefined) return undefined
  const star = value.indexOf('*')
  if (star < 0) return { exact: value }
  if (star < value.length - 1) throw invalid([{ at: `?${parameter}`, message: 'may contain "*" only at its end' }])
  return { prefix: value.slice(0, -1) }
}

/** Relative URL of the next page, with the filters in the client's order and without unknown parameters (C-55). */
export function nextLookup(params: URLSearchParams, page: number): string {
  const kept = [...params].filter(([name]) => name !== 'page' && LOOKUP_PARAMETERS.some((known) => known === name))
  const query = [...kept, ['page', String(page + 1)]].map(
    ([name = '', value = '']) => `${name}=${encodeURIComponent(value)}`,
  )
  return `/ad/l?${query.join('&')}`
}
