import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonObject } from '@switchboard/protocol'
import { type AgentTable, noAgent, toDescriptor } from '../agents/agent-table.js'
import { fetchDescriptor } from '../agents/fetch-descriptor.js'
import { forwardCall, pathOf, REQUEST_HEADERS, RESPONSE_HEADERS } from '../agents/forward-call.js'
import type { LocalAgent } from '../agents/local-agent.js'
import { describeAgent, readName, readRegistration } from '../agents/read-registration.js'
import { type AuditLog, audited } from '../audit-log.js'
import { readBody, readJsonObject } from '../http/read-body.js'
import { type RequestHandler, readUrl, sendJson } from '../http/serve-http.js'
import { LocalError } from '../local-error.js'
import type { ConsentRoutes } from './consent-routes.js'

export interface SocketDeps {
  readonly agents: AgentTable
  readonly consents: ConsentRoutes
  readonly log: AuditLog
  readonly monotonic: () => number
  /** URL of the bridge for web pages; undefined if there is none. */
  readonly bridgeUrl: () => string | undefined
}

/** Unlike web pages, programs of the same user may send credentials and a callback URL to agents. */
const FORWARDED_HEADERS = {
  request: new Set([...REQUEST_HEADERS, 'authorization', 'x-api-key', 'x-callback-url']),
  response: new Set([...RESPONSE_HEADERS, 'www-authenticate']),
}

/** Log entries in one response. */
const MAX_ENTRIES = 1000

/** The HTTP API on the socket, for programs of this user: register and call agents, manage consents, read the log. */
export function createSocketRoutes({ agents, consents, log, monotonic, bridgeUrl }: SocketDeps): RequestHandler {
  const register = async (message: IncomingMessage, response: ServerResponse, text: string): Promise<void> => {
    const name = readName(text)
    const { target, descriptor } = await readRegistration(await readJsonObject(message))
    const agent = describeAgent(name, target, descriptor ?? (await fetchDescriptor(target)))
    const isNew = await agents.put(agent)
    sendJson(response, isNew ? 201 : 200, { ...summaryOf(agent), uri: `agent+local://${name}` })
  }

  const remove = (response: ServerResponse, name: string): void => {
    if (!agents.remove(name)) throw noAgent(name)
    response.writeHead(204).end()
  }

  const forward = (
    message: IncomingMessage,
    response: ServerResponse,
    agent: LocalAgent,
    capability: string,
    request: { readonly method: 'POST' | 'GET' | 'DELETE'; readonly path: string },
  ): Promise<void> =>
    audited({ log, monotonic }, { agent: agent.name, capability }, response, async () => {
      const body = request.method === 'POST' ? { body: await readBody(message) } : {}
      const call = { agent, ...request, ...body, forwardedHeaders: FORWARDED_HEADERS }
      await forwardCall(agents, message, response, call)
    })

  const handleAgent = async (
    message: IncomingMessage,
    response: ServerResponse,
    rest: readonly string[],
  ): Promise<void> => {
    const [name = '', operation, id, ...more] = rest
    const { method } = message
    if (operation === undefined) {
      if (method === 'GET') return sendJson(response, 200, toDescriptor(agents.get(name)))
      if (method === 'PUT') return register(message, response, name)
      if (method === 'DELETE') return remove(response, name)
      throw wrongMethod()
    }
    if (more.length > 0) throw notFound()
    const agent = agents.get(name)
    if (id === undefined) {
      if (method !== 'POST') throw wrongMethod()
      if (/(^|\/)\.{0,2}(\/|$)/.test(operation)) throw notFound()
      return forward(message, response, agent, operation, { method, path: pathOf(operation) })
    }
    if (operation !== 'tasks') throw notFound()
    if (method !== 'GET' && method !== 'DELETE') throw wrongMethod()
    return forward(message, response, agent, 'tasks', { method, path: `/tasks/${encodeURIComponent(id)}` })
  }

  return async (message, response) => {
    const { path, query } = readUrl(message)
    const [collection = '', ...rest] = path
    if (collection === 'agents' && rest.length > 0) return handleAgent(message, response, rest)
    if (collection === 'consents' && rest.length === 0) return consents(message, response, query)
    if (message.method !== 'GET' || rest.length > 0) throw notFound()
    if (collection === 'agents') return sendJson(response, 200, { agents: agents.list().map(summaryOf) })
    if (collection === 'log') return sendJson(response, 200, { entries: [...(await log.read(MAX_ENTRIES))] })
    if (collection !== '') throw notFound()
    const bridge = bridgeUrl()
    sendJson(response, 200, { service: 'switchboard local', ...(bridge !== undefined && { bridge }) })
  }
}

const summaryOf = ({ name, description, capabilities, target }: LocalAgent): JsonObject => ({
  name,
  description,
  capabilities: [...capabilities],
  ...target,
})

const notFound = (): LocalError => new LocalError('not_found', 'there is no such path')
const wrongMethod = (): LocalError => new LocalError('method_not_allowed', 'this path does not support the method')
