import { asObjects, asStrings, type DiscoveryRequest, isObject, type JsonObject } from '@switchboard/protocol'
import { credentialHeader } from '../transports/credential.js'
import type { HttpDeps } from '../transports/http/exchange.js'
import { createHttpTransport } from '../transports/http/http-transport.js'
import { DEFAULT_RETRY, type RetryPolicy } from '../transports/retry.js'
import { createDirectoryCalls, type DirectoryCalls } from './call-through.js'
import { createLevelFinder, type DiscoverOptions, type Discovery, describeService, discover } from './discover.js'
import {
  type AgentMetadata,
  type AgentSummary,
  type Candidate,
  type DirectoryEntry,
  listIn,
  readMetadata,
} from './documents.js'
import type { Listing } from './listing.js'
import { createPathFinder, type LookupPage, type LookupQuery, lookUp } from './lookup.js'
import { type RegisterOptions, type Registration, register, type Update, update } from './register.js'
import { createRequester, type RequestOptions } from './requester.js'
import { type SearchOptions, type SearchPage, type SearchRequest, search } from './search.js'

export interface ClientOptions {
  /** Of the directory, such as `https://directory.example`; a base path such as `/v0` may follow. */
  readonly baseUrl: string
  /** A key or JWT of the directory. */
  readonly token?: string
  readonly fetch?: typeof fetch
  /** Path or template of lookups, so that /.well-known/ad need not be asked for it (AD Appendix B). */
  readonly lookup?: string
  /** How often and how patiently requests are repeated that may be. */
  readonly retry?: Partial<RetryPolicy>
}

/** The documents that a directory can show of an agent. */
export type AgentView = 'aidip' | 'profile' | 'descriptor' | 'a2a' | 'mcp'

/** What is to be done, where, and under which conditions (AIDIP §6). */
export interface Intent {
  readonly intent: string
  readonly context?: JsonObject
  readonly policy?: JsonObject
  readonly top?: number
}

/** An agent that fits an intent, with what is needed to call it. */
export interface ResolutionCandidate {
  readonly id: string
  readonly endpoints: readonly string[]
  readonly invocation: JsonObject
  readonly document: AgentMetadata
}

export interface Feedback {
  /** From 1 to 5. */
  readonly rating: number
  readonly comment?: string
}

/** A directory, as its clients use it. Every method throws a `ClientError` with a code if it fails. */
export interface DirectoryClient extends DirectoryCalls {
  readonly baseUrl: string
  /** Registers a document of any draft: AIDIP, the profile, the Agent Directory, a descriptor, an A2A card, an MCP server. */
  register(document: JsonObject, options?: RegisterOptions): Promise<Registration>
  /** Keeps a registration of the Agent Directory alive; with `changes`, replaces those members. */
  refresh(registration: Pick<Registration, 'href'>, options?: RefreshOptions): Promise<void>
  get(id: string, options?: RequestOptions & { readonly view?: AgentView }): Promise<AgentMetadata>
  /** Replaces an agent's metadata; a function gets the present one, and no other change is lost. */
  update(id: string, change: Update, options?: RequestOptions & { readonly ifMatch?: string }): Promise<Registration>
  /** Removes an agent by its id, or a registration of the Agent Directory by its resource. */
  remove(
    agent: string | Pick<Registration, 'href'>,
    options?: RequestOptions & { readonly ifMatch?: string },
  ): Promise<void>
  search(what: string | SearchRequest, options?: SearchOptions): Listing<SearchPage, AgentSummary>
  discover(what: string | DiscoveryRequest, options?: DiscoverOptions): Listing<Discovery, Candidate>
  /** Level, limits and supported constraints of the discovery service. */
  describe(options?: RequestOptions): Promise<JsonObject>
  lookup(query?: LookupQuery, options?: RequestOptions): Listing<LookupPage, DirectoryEntry>
  /** Which agents fit an intent, before any is called. Nothing else asks for this by itself. */
  resolve(intent: string | Intent, options?: RequestOptions): Promise<readonly ResolutionCandidate[]>
  feedback(id: string, feedback: Feedback, options?: RequestOptions): Promise<void>
}

export interface RefreshOptions extends RequestOptions {
  /** Seconds. */
  readonly lifetime?: number
  readonly changes?: JsonObject
}

const PATHS: Readonly<Record<AgentView, (id: string) => string>> = {
  aidip: (id) => `/agents/${id}`,
  profile: (id) => `/discover/agents/${id}`,
  descriptor: (id) => `/agents/${id}/agent.json`,
  a2a: (id) => `/agents/${id}/agent-card.json`,
  mcp: (id) => `/agents/${id}/server.json`,
}

/**
 * A client of a directory, for browsers and Node.
 *
 * @example
 * const directory = createClient({ baseUrl: 'https://directory.example', token })
 * for await (const agent of directory.search('translate a contract into Chinese')) console.log(agent.name)
 */
export function createClient(options: ClientOptions): DirectoryClient {
  const deps: HttpDeps = {
    // Not taken apart from its global: browsers refuse that.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    retry: { ...DEFAULT_RETRY, ...options.retry },
  }
  const { token } = options
  const credentials = credentialHeader(token === undefined ? undefined : { type: 'bearer', token })
  const request = createRequester(options.baseUrl, credentials, deps)
  const findPaths = createPathFinder(request)
  const levelOf = createLevelFinder(request)
  const templateOf = async (of: RequestOptions): Promise<string> =>
    options.lookup === undefined ? (await findPaths(of)).lookup : withParameters(options.lookup)
  return {
    baseUrl: options.baseUrl,
    ...createDirectoryCalls(request, createHttpTransport(deps)),
    register: (document, more) => register(request, findPaths, document, more),
    async refresh({ href }, { lifetime, changes, ...more } = {}) {
      const path = lifetime === undefined ? href : `${href}?lt=${lifetime}`
      await request({ ...more, method: 'POST', path, isRepeatable: true, ...(changes && { body: changes }) })
    },
    async get(id, { view = 'aidip', ...more } = {}) {
      const { body } = await request({ ...more, method: 'GET', path: PATHS[view](encodeURIComponent(id)) })
      // Cards and descriptors need not say under which id they were found.
      return readMetadata(isObject(body) ? { id, ...body } : body)
    },
    update: (id, change, more = {}) => update(request, id, change, more),
    async remove(agent, { ifMatch, ...more } = {}) {
      const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch }
      const path = typeof agent === 'string' ? `/agents/${encodeURIComponent(agent)}` : agent.href
      await request({ ...more, method: 'DELETE', path, headers })
    },
    search: (what, more) => search(request, what, more),
    discover: (what, more) => discover(request, levelOf, what, more),
    describe: (more = {}) => describeService(request, more),
    lookup: (query = {}, more = {}) => lookUp(request, templateOf, query, more),
    async resolve(what, more = {}) {
      const body: JsonObject = typeof what === 'string' ? { intent: what } : { ...what }
      const answer = await request({ ...more, method: 'POST', path: '/resolve', body, isRepeatable: true })
      return listIn(answer.body, 'candidates').map((item) => {
        const document = readMetadata(item)
        const { id, endpoints, invocation } = document
        return { id, endpoints: endpointsIn(endpoints), invocation: isObject(invocation) ? invocation : {}, document }
      })
    },
    async feedback(id, { rating, comment }, more = {}) {
      const body = { rating, ...(comment !== undefined && { comment }) }
      await request({ ...more, method: 'POST', path: `/agents/${encodeURIComponent(id)}/feedback`, body })
    },
  }
}

/** Endpoints as text, or as objects that say how each is spoken to. */
const endpointsIn = (value: AgentMetadata[string] | undefined): string[] => [
  ...asStrings(value),
  ...asObjects(value).flatMap(({ endpoint, url }) => [endpoint ?? url].filter((text) => typeof text === 'string')),
]

/** A plain path takes every parameter that the draft has. */
const withParameters = (lookup: string): string =>
  lookup.includes('{') ? lookup : `${lookup}{?agent,protocol,cap_name,cap_type,tag,page,count}`
