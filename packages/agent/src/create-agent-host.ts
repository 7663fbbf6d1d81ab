import type { JsonObject } from '@switchboard/protocol'
import type { Agent } from './create-agent.js'
import { createPublisher } from './descriptor/published.js'
import { AgentError, toAgentError } from './errors.js'
import { documentResponse } from './http/document-route.js'
import type { Exchange, Place } from './http/exchange.js'
import type { Respond } from './http/respond.js'
import { errorResponse, jsonResponse } from './http/responses.js'
import { segmentsBelow } from './http/route-path.js'
import type { ListenOptions } from './node/listen.js'
import { createServing, type Listening } from './node/serving.js'
import { SYSTEM } from './runtime.js'

export interface AgentHostOptions {
  /** By path segment: `planner` is served at `/planner`. */
  readonly agents: Readonly<Record<string, Agent>>
  /** Address that others reach the host at. Default: the one it listens on. */
  readonly publicUrl?: string
  readonly onError?: (error: unknown) => void
}

/** Several agents at one address. */
export interface AgentHost {
  readonly url: string | undefined
  listen(options?: ListenOptions): Promise<Listening>
  fetch(request: Request, place?: Place): Promise<Response>
  /** Closes the agents too. */
  close(): Promise<void>
}

/** Seconds. */
const MAX_AGE = 60

/** Serves several agents at one address and lists them in agents.json (AURI §5.1). */
export function createAgentHost({
  agents,
  publicUrl,
  onError = (error) => console.error(error),
}: AgentHostOptions): AgentHost {
  const names = Object.keys(agents)
  const bad = names.find((name) => !/^[a-z0-9][\w.~-]*$/i.test(name))
  if (names.length === 0 || bad !== undefined) {
    throw new AgentError(
      'invalid_definition',
      bad === undefined
        ? 'a host needs at least one agent'
        : `"${bad}" cannot be a path segment: use letters, digits and . _ ~ -, such as "planner"`,
    )
  }
  const publish = createPublisher(SYSTEM.now, undefined)
  let base = publicUrl?.replace(/\/+$/, '')

  const documentOf = (file: string | undefined, at: string): JsonObject | undefined => {
    if (file === 'agents.json') {
      return { agents: Object.fromEntries(names.map((name) => [name, `${at}/${name}/agent.json`])) }
    }
    const keys = Object.values(agents).flatMap((agent) => agent.publicKeys)
    return file === 'jwks.json' && keys.length > 0 ? { keys } : undefined
  }

  const route = async (request: Request, place: Place): Promise<Response> => {
    const { pathname, origin } = new URL(request.url)
    const path = segmentsBelow(pathname, place.basePath ?? '') ?? []
    const at = place.baseUrl ?? base ?? `${origin}${place.basePath ?? ''}`
    const [first, second, ...rest] = path
    const agent = first !== undefined && Object.hasOwn(agents, first) ? agents[first] : undefined
    if (agent) return agent.fetch(request, below(place, at, first ?? ''))
    if (first === 'health' && path.length === 1) return jsonResponse({ status: 'ok', agents: names })
    const document = first === '.well-known' && rest.length === 0 ? documentOf(second, at) : undefined
    if (!document) throw new AgentError('not_found', `there is no such agent here; the agents are ${names.join(', ')}`)
    const exchange: Exchange = { request, url: new URL(request.url), base: at, path, requestId: '', place }
    return documentResponse(exchange, await publish(`${at} ${second}`, document), MAX_AGE, ['application/json'])
  }

  const respond: Respond = async (request, place) => {
    try {
      return await route(request, place)
    } catch (error) {
      return errorResponse(toAgentError(error), { instance: new URL(request.url).pathname, requestId: SYSTEM.newId() })
    }
  }

  const serving = createServing(
    {
      respond,
      async upgrade(message, socket, head, place) {
        const name = (message.url ?? '').split(/[/?]/)[1] ?? ''
        const agent = Object.hasOwn(agents, name) ? agents[name] : undefined
        if (agent) agent.upgrade(message, socket, head, below(place, place.baseUrl ?? '', name))
        else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n')
      },
    },
    onError,
  )

  return {
    get url() {
      return base
    },
    async listen(options = {}) {
      const listening = await serving.listen(options, base)
      base = listening.url
      for (const [name, agent] of Object.entries(agents)) {
        if (base !== undefined) agent.servedAt(`${base}/${name}`, { webSocket: true })
      }
      return listening
    },
    fetch: (request, place = {}) => respond(request, place),
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.close()))
      await serving.close()
    },
  }
}

const below = (place: Place, base: string, name: string): Place => ({
  ...place,
  basePath: `${place.basePath ?? ''}/${name}`,
  baseUrl: `${base}/${name}`,
})
