import type { JsonObject } from '@switchboard/protocol'
import { createHttpTransport } from '../transports/http/http-transport.js'
import { type DirectoryCallOptions, searchHeader } from './call-options.js'
import { type ClientOptions, createDiscovery, type DiscoveryClient } from './create-discovery-client.js'
import { createDirectoryCalls, type DirectoryCalls } from './directory-calls.js'
import { createPathFinder } from './lookup.js'
import { type RegisterOptions, type Registration, register, type Update, update } from './register.js'
import { openRequester, type RequestOptions } from './requester.js'

export interface Feedback {
  /** From 1 to 5. */
  readonly rating: number
  readonly comment?: string
}

export interface RefreshOptions extends RequestOptions {
  /** Seconds. */
  readonly lifetime?: number
  /** Members to replace. */
  readonly changes?: JsonObject
}

/** A directory: find, register and call agents. Every method throws a `ClientError` with a code if it fails. */
export interface DirectoryClient extends DiscoveryClient, DirectoryCalls {
  /** Registers a document of any draft: AIDIP, the profile, the Agent Directory, a descriptor, an A2A card, an MCP server. */
  register(document: JsonObject, options?: RegisterOptions): Promise<Registration>
  /** Renews a registration of the Agent Directory before it expires. */
  refresh(registration: Pick<Registration, 'href'>, options?: RefreshOptions): Promise<void>
  /** Replaces an agent's metadata. A function receives the current metadata, and concurrent changes are not lost. */
  update(id: string, change: Update, options?: RequestOptions & { readonly ifMatch?: string }): Promise<Registration>
  /** Removes an agent by its id, or a registration of the Agent Directory by its `href`. */
  remove(
    agent: string | Pick<Registration, 'href'>,
    options?: RequestOptions & { readonly ifMatch?: string },
  ): Promise<void>
  /** Rates an agent. */
  feedback(
    id: string,
    feedback: Feedback,
    options?: RequestOptions & Pick<DirectoryCallOptions, 'searchId'>,
  ): Promise<void>
}

/**
 * Creates a client of a directory, for browsers and Node. A web page that only searches can use the smaller
 * `createDiscoveryClient` of `@switchboard/client/discovery`.
 *
 * @example
 * const directory = createClient({ baseUrl: 'https://directory.example', token })
 * for await (const agent of directory.search('translate a contract into Chinese')) console.log(agent.name)
 * const { output } = await directory.invoke('translator', { text: 'Hello', to: 'zh' })
 */
export function createClient(options: ClientOptions): DirectoryClient {
  const { request, deps } = openRequester(options)
  const findPaths = createPathFinder(request)
  return {
    ...createDiscovery(request, findPaths, options),
    ...createDirectoryCalls(request, createHttpTransport(deps)),
    register: (document, more) => register(request, findPaths, document, more),
    async refresh({ href }, { lifetime, changes, ...more } = {}) {
      const path = lifetime === undefined ? href : `${href}?lt=${lifetime}`
      await request({ ...more, method: 'POST', path, isRepeatable: true, ...(changes && { body: changes }) })
    },
    update: (id, change, more = {}) => update(request, id, change, more),
    async remove(agent, { ifMatch, ...more } = {}) {
      const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch }
      const path = typeof agent === 'string' ? `/agents/${encodeURIComponent(agent)}` : agent.href
      await request({ ...more, method: 'DELETE', path, headers })
    },
    async feedback(id, { rating, comment }, { searchId, ...more } = {}) {
      const body = { rating, ...(comment !== undefined && { comment }) }
      const path = `/agents/${encodeURIComponent(id)}/feedback`
      await request({ ...more, method: 'POST', path, headers: searchHeader(searchId), body })
    },
  }
}
