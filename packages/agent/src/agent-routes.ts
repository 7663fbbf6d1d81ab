import type { JsonObject, SigningKey } from '@switchboard/protocol'
import type { A2aDeps, A2aRoute } from './a2a/a2a-route.js'
import { createPublisher, type Published } from './descriptor/published.js'
import { AgentError } from './errors.js'
import { documentResponse } from './http/document-route.js'
import type { Exchange } from './http/exchange.js'
import { createInvocation, type InvocationDeps } from './http/invocation.js'
import type { Routes } from './http/respond.js'
import { jsonResponse } from './http/responses.js'
import { createTaskRoute } from './http/task-route.js'
import type { McpRoute } from './mcp/mcp-route.js'
import type { OptionalProtocol } from './optional-sdk.js'
import { publicKeyOf } from './signing/message-signer.js'
import type { Tasks } from './tasks/tasks.js'

export interface RoutesDeps extends A2aDeps, InvocationDeps {
  readonly name: string
  readonly tasks: Tasks
  readonly key: SigningKey | undefined
  /** The descriptor, with endpoints below that base URL; undefined if the agent publishes none. */
  readonly descriptor: (base: string) => Promise<Published | undefined>
  /** Seconds. */
  readonly maxAge: number
  readonly isStopping: () => boolean
  readonly offers: Readonly<Record<OptionalProtocol, boolean>>
}

/** The handlers of the agent's paths. `close` aborts the tasks of A2A callers. */
export interface AgentRoutes extends Routes {
  close(): void
}

export function createRoutes(deps: RoutesDeps): AgentRoutes {
  const { name, versions, performer, authenticator, maxBodyBytes, key, maxAge } = deps
  const { version } = versions.latest
  const mcpDeps = { name, versions, performer, authenticator, maxBodyBytes }
  const publishKeys = createPublisher(deps.runtime.now, undefined)
  let a2a: Promise<A2aRoute> | undefined
  let mcp: Promise<McpRoute> | undefined
  const assertOffered = (protocol: OptionalProtocol): void => {
    if (!deps.offers[protocol]) throw new AgentError('not_found', `this agent does not offer ${protocol.toUpperCase()}`)
  }
  return {
    async card(exchange) {
      const published = await deps.descriptor(exchange.base)
      if (!published) throw new AgentError('not_found', 'this agent publishes no descriptor')
      return documentResponse(exchange, published, maxAge)
    },
    async keys(exchange) {
      if (!key) throw new AgentError('not_found', 'this agent has no keys')
      const keySet: JsonObject = { keys: [publicKeyOf(key)] }
      const types = ['application/json', 'application/jwk-set+json']
      return documentResponse(exchange, await publishKeys('keys', keySet), maxAge, types)
    },
    async health() {
      const status = deps.isStopping() ? 'stopping' : 'ok'
      return jsonResponse({ status, name, version }, status === 'ok' ? 200 : 503, { 'cache-control': 'no-store' })
    },
    task: createTaskRoute(deps.tasks, authenticator),
    // Both are loaded on the first request: their SDKs are large, and the A2A card needs the agent's address.
    async a2a(exchange: Exchange) {
      assertOffered('a2a')
      a2a ??= import('./a2a/a2a-route.js').then(({ createA2aRoute }) => createA2aRoute(deps))
      return (await a2a).handle(exchange)
    },
    async mcp(exchange: Exchange) {
      assertOffered('mcp')
      mcp ??= import('./mcp/mcp-route.js').then(({ createMcpRoute }) => createMcpRoute(mcpDeps))
      return (await mcp)(exchange)
    },
    call: createInvocation(deps),
    close() {
      a2a?.then((route) => route.close()).catch(() => {})
    },
  }
}
