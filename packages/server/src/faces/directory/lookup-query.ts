import { invalid } from '@switchboard/protocol'
import { AVAILABLE, type Condition, type NamePattern } from '../../services/discovery/find.js'
import { wholeNumber } from '../query.js'

/** Agents on one page at the most; told in /.well-known/ad. */
export const MAX_COUNT = 100

/** Parameters of a lookup, in the order of the template (AD §3.1). */
export const LOOKUP_PARAMETERS = ['agent', 'protocol', 'cap_name', 'cap_type', 'tag', 'page', 'count'] as const

export interface Lookup {
  readonly conditions: readonly Condition[]
  readonly page: number
  readonly count: number
}

/** Reads a lookup (AD §5.1): conjunctive, exact but for one trailing star; unknown parameters mean nothing. */
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

/** A star stands at the end or nowhere (C-54); decoding comes first, so %2A is a star too (C-98). */
function namePattern(parameter: string, value: string | undefined): NamePattern | undefined {
  if (value === undefined) return undefined
  const star = value.indexOf('*')
  if (star < 0) return { exact: value }
  if (star < value.length - 1) throw invalid([{ at: `?${parameter}`, message: 'may have one "*", at its end' }])
  return { prefix: value.slice(0, -1) }
}

/** The next page, relative and with the filters in the client's order; unknown parameters are dropped (C-55). */
export function nextLookup(params: URLSearchParams, page: number): string {
  const kept = [...params].filter(([name]) => name !== 'page' && LOOKUP_PARAMETERS.some((known) => known === name))
  const query = [...kept, ['page', String(page + 1)]].map(
    ([name = '', value = '']) => `${name}=${encodeURIComponent(value)}`,
  )
  return `/ad/l?${query.join('&')}`
}
