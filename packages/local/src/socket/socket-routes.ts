import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonObject } from '@switchboard/protocol'
import { type AgentTable, toDescriptor } from '../agents/agent-table.js'
import { askDescriptor } from '../agents/ask-descriptor.js'
import { FROM_AGENT, forwardCall, pathOf, TO_AGENT } from '../agents/forward-call.js'
import type { LocalAgent } from '../agents/local-agent.js'
import { describeAgent, readName, readRegistration } from '../agents/read-registration.js'
import { type AuditLog, audited } from '../audit-log.js'
import { readBody, readJsonObject } from '../http/read-body.js'
import { type Handle, readTarget, sendJson } from '../http/serve-http.js'
import { LocalError } from '../local-error.js'
import type { ConsentRoutes } from './consent-routes.js'

export interface SocketDeps {
  readonly agents: AgentTable
  readonly consents: ConsentRoutes
  readonly log: AuditLog
  readonly now: () => number
  /** Where pages call; undefined: nowhere. */
  readonly bridgeUrl: () => string | undefined
}

/** Programs of the same user may show agents who they are, and say where an answer is to be sent. */
const PASSES = {
  to: new Set([...TO_AGENT, 'authorization', 'x-api-key', 'x-callback-url']),
  back: new Set([...FROM_AGENT, 'www-authenticate']),
}

/** Entries of the log that are told at once. */
const MAX_ENTRIES = 1000

/** What programs of this user reach: agents register and are called, consents are listed, given and taken back. */
export function createSocketRoutes({ agents, consents, log, now, bridgeUrl }: SocketDeps): Handle {
  const register = async (message: IncomingMessage, response: ServerResponse, text: string): Promise<void> => {
    const name = readName(text)
    const { target, descriptor } = await readRegistration(await readJsonObject(message))
    const agent = describeAgent(name, target, descriptor ?? (await askDescriptor(target)))
    const isNew = await agents.put(agent)
    sendJson(response, isNew ? 201 : 200, { ...summaryOf(agent), uri: `agent+local://${name}` })
  }

  const remove = (response: ServerResponse, name: string): void => {
    if (!agents.remove(name)) throw new LocalError('not_found', `no local agent is called ${name.slice(0, 100)}`)
    response.writeHead(204).end()
  }

  const forward = (
    message: IncomingMessage,
    response: ServerResponse,
    agent: LocalAgent,
    capability: string,
    how: { readonly method: 'POST' | 'GET' | 'DELETE'; readonly path: string },
  ): Promise<void> =>
    audited({ log, now }, { agent: agent.name, capability }, response, async () => {
      const body = how.method === 'POST' ? { body: await readBody(message) } : {}
      const { signal } = new AbortController()
      await forwardCall(agents, message, response, { agent, ...how, ...body, passes: PASSES, signal })
    })

  const ofAgent = async (
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
    if (more.length > 0) throw nothingHere()
    const agent = agents.get(name)
    if (id === undefined) {
      if (method !== 'POST') throw wrongMethod()
      if (/(^|\/)\.{0,2}(\/|$)/.test(operation)) throw nothingHere()
      return forward(message, response, agent, operation, { method, path: pathOf(operation) })
    }
    if (operation !== 'tasks') throw nothingHere()
    if (method !== 'GET' && method !== 'DELETE') throw wrongMethod()
    return forward(message, response, agent, 'tasks', { method, path: `/tasks/${encodeURIComponent(id)}` })
  }

  return async (message, response) => {
    const { path, query } = readTarget(message)
    const [collection = '', ...rest] = path
    if (collection === 'agents' && rest.length > 0) return ofAgent(message, response, rest)
    if (collection === 'consents' && rest.length === 0) return consents(message, response, query)
    if (message.method !== 'GET' || rest.length > 0) throw nothingHere()
    if (collection === 'agents') return sendJson(response, 200, { agents: agents.list().map(summaryOf) })
    if (collection === 'log') return sendJson(response, 200, { entries: [...(await log.read(MAX_ENTRIES))] })
    if (collection !== '') throw nothingHere()
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

const nothingHere = (): LocalError => new LocalError('not_found', 'there is nothing here')
const wrongMethod = (): LocalError => new LocalError('method_not_allowed', 'the method does not fit this path')
