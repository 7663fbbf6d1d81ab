import { asString, isObject } from '@switchboard/protocol/json'
import { ClientError } from '../errors.js'
import { cacheSuccess } from './cache-success.js'
import { type DirectoryEntry, listIn, readEntry } from './documents.js'
import { expandTemplate } from './expand-template.js'
import { createListing, type Listing, type Paged } from './listing.js'
import type { Requester, RequestOptions } from './requester.js'
import { nextLink } from './search.js'

/** The parameters of a lookup (AD §5.1); `agent` and `cap_name` may end with `*`. */
export interface LookupQuery {
  readonly agent?: string
  readonly protocol?: string
  readonly cap_name?: string
  readonly cap_type?: string
  readonly tag?: string
  readonly page?: number
  readonly count?: number
}

export interface LookupPage {
  readonly agents: readonly DirectoryEntry[]
}

/** URI templates of a directory's registration and lookup (AD §3.1). */
export interface Paths {
  readonly registration: string
  readonly lookup: string
}

export type PathFinder = (options: RequestOptions) => Promise<Paths>

/** Reads /.well-known/ad, once. */
export const createPathFinder = (request: Requester): PathFinder =>
  cacheSuccess(async (options: RequestOptions) => {
    const { body } = await request({ ...options, method: 'GET', path: '/.well-known/ad' })
    const registration = isObject(body) ? asString(body.registration) : undefined
    const lookup = isObject(body) ? asString(body.lookup) : undefined
    if (registration === undefined || lookup === undefined) {
      throw new ClientError('bad_response', '/.well-known/ad must name registration and lookup')
    }
    return { registration, lookup }
  })

/** Looks agents up with the template that the directory gives. */
export function lookUp(
  request: Requester,
  findTemplate: (options: RequestOptions) => Promise<string>,
  query: LookupQuery,
  options: RequestOptions,
): Listing<LookupPage, DirectoryEntry> {
  for (const name of ['agent', 'cap_name'] as const) assertWildcard(name, query[name])
  const fetchPage = async (path: string): Promise<Paged<LookupPage>> => {
    const response = await request({ ...options, method: 'GET', path })
    const agents = listIn(response.body, 'agents').map(readEntry)
    const next = agents.length === 0 ? undefined : nextLink(response)
    return { page: { agents }, next: next === undefined ? undefined : () => fetchPage(next) }
  }
  const first = async (): Promise<Paged<LookupPage>> =>
    fetchPage(expandTemplate(await findTemplate(options), { ...query }))
  return createListing(first, ({ agents }) => agents)
}

/** Only the end of a value may be a wildcard (AD §5.1). */
function assertWildcard(name: string, value: string | undefined): void {
  if (value === undefined || !/\*./.test(value)) return
  throw new ClientError('invalid_argument', `${name} can have "*" only at its end, not as in ${value}`)
}
