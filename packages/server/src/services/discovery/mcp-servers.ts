import {
  type AgentRecord,
  DirectoryError,
  type JsonObject,
  serverName,
  speaksMcp,
  toRegistryServer,
} from '@switchboard/protocol'
import { type GrantsOf, viewOf } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import type { Catalog, CatalogListener } from '../registry/catalog.js'
import type { Readable } from '../registry/read.js'
import { isAvailable } from './find.js'

/** Which servers a registry lists. */
export interface ServerFilter {
  /** Part of the name, title or description, in any case. */
  readonly search?: string | undefined
  /** Milliseconds: only servers that have changed since. */
  readonly updatedSince?: number | undefined
  /** Only servers in this version. */
  readonly version?: string | undefined
  /** Also those that are out of service. */
  readonly includeDeleted?: boolean
}

export interface ServerQuery extends ServerFilter {
  /** The name that the page starts after. */
  readonly after?: string | undefined
  readonly take: number
  readonly caller: Caller
}

export interface ServerPage {
  readonly servers: readonly Readable[]
  /** The name of the last one, if there are more servers that the caller may see. */
  readonly last?: string | undefined
  /** Agents that were checked, for the rate limit. Only those count that the caller may see. */
  readonly visited: number
}

/** The agents that speak MCP, as a registry of MCP servers: by name, each name once. */
export interface McpServers extends Required<Pick<CatalogListener, 'changed' | 'removed'>> {
  list(query: ServerQuery): ServerPage
  /** The server with this name; throws `not_found` if the caller may not see it. */
  read(name: string, caller: Caller, includeDeleted: boolean): Readable
  /** Its `server.json`. */
  write(server: Readable): JsonObject
}

export interface McpServersOptions {
  readonly catalog: Pick<Catalog, 'byNumber' | 'facts' | 'baseUrl'>
  readonly grantsOf: GrantsOf
}

/**
 * Keeps the names of MCP servers. Names are computed when they are first needed: some contain the URL of the directory, which
 * is known only once it listens.
 */
export function createMcpServers({ catalog, grantsOf }: McpServersOptions): McpServers {
  const names = new Map<number, string>()
  /**
   * Numbers of the agents with a name, ascending: of those that a caller sees, the first has it. There are several only if ids are
   * so long that their names contain a hash.
   */
  const holders = new Map<string, readonly number[]>()
  const unread = new Set<number>()
  /** Numbers by name; undefined: to be sorted. */
  let order: readonly (readonly [number: number, name: string])[] | undefined

  const forget = (number: number): void => {
    const name = names.get(number)
    if (name === undefined) return
    names.delete(number)
    const others = (holders.get(name) ?? []).filter((each) => each !== number)
    if (others.length > 0) holders.set(name, others)
    else holders.delete(name)
    order = undefined
  }

  const drop = (number: number): void => {
    unread.delete(number)
    forget(number)
  }

  const learn = (number: number): void => {
    forget(number)
    const agent = catalog.byNumber(number)
    if (!agent) return
    const name = serverName(agent.record.id, catalog.baseUrl())
    names.set(number, name)
    holders.set(
      name,
      [...(holders.get(name) ?? []), number].sort((a, b) => a - b),
    )
    order = undefined
  }

  const readNames = (): void => {
    for (const number of unread) learn(number)
    unread.clear()
  }

  /** An agent as the caller sees it, if it is an MCP server for the caller. */
  const shownTo = (caller: Caller, number: number, includeDeleted: boolean): Readable | undefined => {
    const agent = catalog.byNumber(number)
    const record = agent && viewOf(agent, caller, grantsOf)
    if (!record || !(includeDeleted || isAvailable(agent.status))) return undefined
    // What speaks MCP may be a private part of the agent.
    return speaksMcp(record) ? { agent, record } : undefined
  }

  const holderOf = (name: string, caller: Caller, includeDeleted: boolean): Readable | undefined => {
    for (const number of holders.get(name) ?? []) {
      const server = shownTo(caller, number, includeDeleted)
      if (server) return server
    }
    return undefined
  }

  const write = ({ agent, record }: Readable): JsonObject => toRegistryServer(record, catalog.facts(agent))

  const matches = (server: Readable, name: string, { search, updatedSince, version }: ServerFilter): boolean =>
    (updatedSince === undefined || server.agent.stored.modifiedAt >= updatedSince) &&
    (search === undefined || textsOf(name, server.record).some((text) => text.toLowerCase().includes(search))) &&
    (version === undefined || write(server).version === version)

  return {
    changed({ number, record }) {
      // Now, while the record is parsed.
      if (speaksMcp(record)) unread.add(number)
      else drop(number)
    },
    removed: drop,
    list({ after, take, caller, ...query }) {
      readNames()
      order ??= [...names].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0))
      const filter = { ...query, search: query.search?.toLowerCase() }
      const { includeDeleted = false } = filter
      const servers: Readable[] = []
      let last: string | undefined
      let visited = 0
      for (const [number, name] of order) {
        if (after !== undefined && name <= after) continue
        const server = shownTo(caller, number, includeDeleted)
        if (!server) continue
        visited++
        if (!matches(server, name, filter) || holderOf(name, caller, includeDeleted)?.agent !== server.agent) continue
        if (servers.length === take) return { servers, last, visited }
        servers.push(server)
        last = name
      }
      return { servers, visited }
    },
    read(name, caller, includeDeleted) {
      readNames()
      const server = holderOf(name, caller, includeDeleted)
      if (!server) throw new DirectoryError('not_found', `there is no MCP server "${name}"`)
      return server
    },
    write,
  }
}

const textsOf = (name: string, record: AgentRecord): string[] => [name, record.name, record.description]
