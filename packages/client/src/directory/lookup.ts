import { asString, isObject } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type DirectoryEntry, listIn, readEntry } from './documents.js'
import { expandTemplate } from './expand-template.js'
import { createListing, type Listing, type Paged } from './listing.js'
import type { Requester, RequestOptions } from './requester.js'
import { linkOf } from './search.js'

/** A lookup in the directory's own words (AD §5.1); `agent` and `cap_name` may end with one star. */
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

/** Where a directory says that it is asked (AD §3.1). */
export interface Paths {
  readonly registration: string
  readonly lookup: string
}

/** Reads /.well-known/ad once; a failure is not remembered. */
export function createPathFinder(request: Requester): (options: RequestOptions) => Promise<Paths> {
  let known: Promise<Paths> | undefined
  return (options) => {
    known ??= readPaths(request, options).catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }
}

async function readPaths(request: Requester, options: RequestOptions): Promise<Paths> {
  const { body } = await request({ ...options, method: 'GET', path: '/.well-known/ad' })
  const registration = isObject(body) ? asString(body.registration) : undefined
  const lookup = isObject(body) ? asString(body.lookup) : undefined
  if (registration === undefined || lookup === undefined) {
    throw new ClientError('bad_response', '/.well-known/ad must name registration and lookup')
  }
  return { registration, lookup }
}

/** Looks agents up: the template that the directory gives is filled in, and pages are followed. */
export function lookUp(
  request: Requester,
  templateOf: (options: RequestOptions) => Promise<string>,
  query: LookupQuery,
  options: RequestOptions,
): Listing<LookupPage, DirectoryEntry> {
  for (const name of ['agent', 'cap_name'] as const) assertStar(name, query[name])
  const fetchPage = async (path: string): Promise<Paged<LookupPage>> => {
    const answer = await request({ ...options, method: 'GET', path })
    const agents = listIn(answer.body, 'agents').map(readEntry)
    const next = agents.length === 0 ? undefined : linkOf(answer)
    return { page: { agents }, next: next === undefined ? undefined : () => fetchPage(next) }
  }
  const first = async (): Promise<Paged<LookupPage>> =>
    fetchPage(expandTemplate(await templateOf(options), { ...query }))
  return createListing(first, ({ agents }) => agents)
}

/** A star stands at the end or nowhere (AD §5.1); what cannot be answered is not asked. */
function assertStar(name: string, value: string | undefined): void {
  if (value === undefined || !/\*./.test(value)) return
  throw new ClientError('invalid_argument', `${name} may have one "*", at its end: ${value}`)
}
