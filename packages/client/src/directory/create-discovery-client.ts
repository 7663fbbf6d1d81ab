import type { DiscoveryRequest } from '@switchboard/protocol'
import { asObjects, asStrings, isObject, type JsonObject } from '@switchboard/protocol/json'
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
import { createPathFinder, type LookupPage, type LookupQuery, lookUp, type PathFinder } from './lookup.js'
import { type ConnectionOptions, openRequester, type Requester, type RequestOptions } from './requester.js'
import { type SearchOptions, type SearchPage, type SearchRequest, search } from './search.js'

export interface ClientOptions extends ConnectionOptions {
  /** Path or template of lookups, which saves the request to /.well-known/ad (AD Appendix B). */
  readonly lookup?: string
}

/** The formats in which a directory serves the document of an agent. */
export type AgentView = 'aidip' | 'aidip-00' | 'profile' | 'descriptor' | 'a2a' | 'mcp'

/** A task to find agents for, with its context and constraints (AIDIP §6). */
export interface Intent {
  readonly intent: string
  readonly context?: JsonObject
  readonly policy?: JsonObject
  readonly top?: number
}

/** An agent that fits an intent, and how to call it. */
export interface ResolutionCandidate {
  readonly id: string
  readonly endpoints: readonly string[]
  readonly invocation: JsonObject
  readonly document: AgentMetadata
}

/** The part of a directory that finds and reads agents. Every method throws a `ClientError` if it fails. */
export interface DiscoveryClient {
  readonly baseUrl: string
  /** Searches by words, filters or both. */
  search(what: string | SearchRequest, options?: SearchOptions): Listing<SearchPage, AgentSummary>
  /** Finds candidates for a task, with the reasons for their rank if you ask for evidence. */
  discover(what: string | DiscoveryRequest, options?: DiscoverOptions): Listing<Discovery, Candidate>
  /** Looks agents up by name, protocol, capability or tag. */
  lookup(query?: LookupQuery, options?: RequestOptions): Listing<LookupPage, DirectoryEntry>
  /** Finds the agents that fit an intent, and how to call each. */
  resolve(intent: string | Intent, options?: RequestOptions): Promise<readonly ResolutionCandidate[]>
  /** Reads the document of an agent; default: its AIDIP metadata. */
  get(id: string, options?: RequestOptions & { readonly view?: AgentView }): Promise<AgentMetadata>
  /** Reads the conformance level, limits and supported constraints of the discovery service. */
  describe(options?: RequestOptions): Promise<JsonObject>
}

/**
 * Creates a client that only finds and reads agents. It adds about half as much to a web page as `createClient`, which
 * also registers and calls agents.
 *
 * @example
 * const directory = createDiscoveryClient({ baseUrl: 'https://directory.example' })
 * for await (const agent of directory.search('translate a contract into Chinese')) console.log(agent.name)
 */
export function createDiscoveryClient(options: ClientOptions): DiscoveryClient {
  const { request } = openRequester(options)
  return createDiscovery(request, createPathFinder(request), options)
}

const PATHS: Readonly<Record<AgentView, (id: string) => string>> = {
  aidip: (id) => `/agents/${id}`,
  'aidip-00': (id) => `/v0/agents/${id}`,
  profile: (id) => `/discover/agents/${id}`,
  descriptor: (id) => `/agents/${id}/agent.json`,
  a2a: (id) => `/agents/${id}/agent-card.json`,
  mcp: (id) => `/agents/${id}/server.json`,
}

/** The methods of a `DiscoveryClient` over an open connection. */
export function createDiscovery(
  request: Requester,
  findPaths: PathFinder,
  { baseUrl, lookup }: ClientOptions,
): DiscoveryClient {
  const findLevel = createLevelFinder(request)
  const findTemplate = async (options: RequestOptions): Promise<string> =>
    lookup === undefined ? (await findPaths(options)).lookup : withParameters(lookup)
  return {
    baseUrl,
    search: (what, options) => search(request, what, options),
    discover: (what, options) => discover(request, findLevel, what, options),
    lookup: (query = {}, options = {}) => lookUp(request, findTemplate, query, options),
    async resolve(what, options = {}) {
      const body: JsonObject = typeof what === 'string' ? { intent: what } : { ...what }
      const response = await request({ ...options, method: 'POST', path: '/resolve', body, isRead: true })
      return listIn(response.body, 'candidates').map((item) => {
        const document = readMetadata(item)
        const { id, endpoints, invocation } = document
        return { id, endpoints: readEndpoints(endpoints), invocation: isObject(invocation) ? invocation : {}, document }
      })
    },
    async get(id, { view = 'aidip', ...options } = {}) {
      const { body } = await request({ ...options, method: 'GET', path: PATHS[view](encodeURIComponent(id)) })
      // Cards and descriptors may not state the id that the directory knows them by.
      return readMetadata(isObject(body) ? { id, ...body } : body)
    },
    describe: (options = {}) => describeService(request, options),
  }
}

/** Endpoints are strings, or objects with an `endpoint` or `url`. */
const readEndpoints = (value: AgentMetadata[string] | undefined): string[] => [
  ...asStrings(value),
  ...asObjects(value).flatMap(({ endpoint, url }) => [endpoint ?? url].filter((text) => typeof text === 'string')),
]

/** Turns a plain path into a template with every parameter of the draft. */
const withParameters = (lookup: string): string =>
  lookup.includes('{') ? lookup : `${lookup}{?agent,protocol,cap_name,cap_type,tag,page,count}`
