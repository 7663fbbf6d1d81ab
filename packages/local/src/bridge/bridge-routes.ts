import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentTable } from '../agents/agent-table.js'
import { forwardCall, pathOf, REQUEST_HEADERS, RESPONSE_HEADERS } from '../agents/forward-call.js'
import type { LocalAgent } from '../agents/local-agent.js'
import { type AuditLog, audited } from '../audit-log.js'
import { ALL_CAPABILITIES, type Permission } from '../consents/consent.js'
import type { ConsentRequests } from '../consents/consent-requests.js'
import type { ConsentStore } from '../consents/consent-store.js'
import { readBody, readJsonObject, requireJson, stringIn } from '../http/read-body.js'
import { type RequestHandler, readUrl, sendJson } from '../http/serve-http.js'
import { LocalError } from '../local-error.js'
import { allowOrigin, isPreflight, sendPreflight } from './cors.js'
import { checkHost, originOf } from './origin.js'
import type { PageCalls } from './page-calls.js'

export interface BridgeDeps {
  readonly agents: AgentTable
  readonly store: ConsentStore
  readonly requests: ConsentRequests
  readonly calls: PageCalls
  readonly log: AuditLog
  readonly monotonic: () => number
  /** The port on which the bridge listens. */
  readonly port: () => number
}

const FORWARDED_HEADERS = { request: new Set(REQUEST_HEADERS), response: new Set(RESPONSE_HEADERS) }

/** Runs any operation, named in the body, so it requires consent to all capabilities. */
const UNIFIED = 'invoke'

/**
 * The HTTP API for web pages: they request consent (`POST /consents`) and get a token, with which they make calls
 * (`POST /agents/{name}/{capability}`). Everything else is rejected.
 */
export function createBridgeRoutes(deps: BridgeDeps): RequestHandler {
  const { agents, store, requests, calls, log, monotonic } = deps

  const requestConsent = async (message: IncomingMessage, response: ServerResponse, origin: string): Promise<void> => {
    const body = await readJsonObject(message)
    const permission = {
      origin,
      agent: stringIn(body, 'agent').toLowerCase(),
      capability: stringIn(body, 'capability'),
    }
    const presented = tokenOf(message)
    const isAuthenticated = presented !== undefined && store.isValidToken(origin, presented)
    const sendToken = (token: string): void => sendJson(response, 200, { ...permission, token })
    // Only a page with a valid token learns which agents exist; to all others an unknown agent looks like a refusal.
    const agent = findAgent(agents, permission, isAuthenticated)
    if (agent === undefined) throw denied()
    if (store.isAllowed(permission) && isAuthenticated) return sendToken(presented)
    // Allowed in advance: the first page of that origin to ask gets the token.
    if (store.isAllowed(permission) && !store.hasToken(origin)) return sendToken(await store.issueToken(origin))
    const disconnected = new AbortController()
    response.once('close', () => disconnected.abort())
    const { description } = agent
    if (!(await requests.submit({ ...permission, description }, disconnected.signal))) throw denied()
    // If the user allowed it over the socket, it has been stored and logged there.
    if (!store.isAllowed(permission)) log.write({ event: 'allowed', ...permission })
    await store.allow(permission)
    sendToken(isAuthenticated ? presented : await store.issueToken(origin))
  }

  /** Comes before every lookup, so that pages without permission cannot find out which agents exist. */
  const checkPermission = (message: IncomingMessage, { origin, agent, capability }: Permission): void => {
    const token = tokenOf(message)
    const required = { origin, agent, capability: capability === UNIFIED ? ALL_CAPABILITIES : capability }
    if (token === undefined || !store.isValidToken(origin, token) || !store.isAllowed(required)) throw denied()
  }

  const call = async (
    message: IncomingMessage,
    response: ServerResponse,
    permission: Permission,
    request: { readonly method: 'POST' | 'GET' | 'DELETE'; readonly path: string },
  ): Promise<void> => {
    const running = calls.begin(permission)
    try {
      await audited({ log, monotonic }, permission, response, async () => {
        const agent = agents.get(permission.agent)
        const body = request.method === 'POST' ? { body: await readBody(message) } : {}
        const onTask = (id: string): void => calls.addTask(id, permission)
        const options = { forwardedHeaders: FORWARDED_HEADERS, signal: running.signal, onTask }
        await forwardCall(agents, message, response, { agent, ...request, ...body, ...options })
      })
    } catch (error) {
      throw running.signal.aborted ? denied() : error
    } finally {
      running.end()
    }
  }

  const invoke = (message: IncomingMessage, response: ServerResponse, permission: Permission): Promise<void> => {
    requireJson(message)
    checkPermission(message, permission)
    const { agent, capability } = permission
    const { capabilities } = agents.get(agent)
    if (capability !== UNIFIED && !capabilities.includes(capability)) throw noCapability(permission)
    return call(message, response, permission, { method: 'POST', path: pathOf(capability) })
  }

  const task = (
    message: IncomingMessage,
    response: ServerResponse,
    { origin, agent, id }: { readonly origin: string; readonly agent: string; readonly id: string },
  ): Promise<void> => {
    const started = calls.taskOf(agent, id)
    if (started?.origin !== origin) throw denied()
    checkPermission(message, started)
    const method = message.method === 'DELETE' ? 'DELETE' : 'GET'
    return call(message, response, started, { method, path: `/tasks/${encodeURIComponent(id)}` })
  }

  return async (message, response) => {
    checkHost(message, deps.port())
    const origin = originOf(message)
    allowOrigin(response, origin)
    if (isPreflight(message)) return sendPreflight(message, response)
    const { path } = readUrl(message)
    const [collection, name = '', second, third, ...rest] = path
    const { method } = message
    if (method === 'POST' && collection === 'consents' && path.length === 1) {
      return requestConsent(message, response, origin)
    }
    if (collection === 'agents' && rest.length === 0 && second !== undefined) {
      const agent = name.toLowerCase()
      if (method === 'POST' && third === undefined) {
        return invoke(message, response, { origin, agent, capability: second })
      }
      const isTask = second === 'tasks' && third !== undefined && (method === 'GET' || method === 'DELETE')
      if (isTask) return task(message, response, { origin, agent, id: third })
    }
    throw denied()
  }
}

/** The requested agent. If it does not exist or lacks the capability: throws if `mayKnow`, else undefined. */
function findAgent(agents: AgentTable, wanted: Permission, mayKnow: boolean): LocalAgent | undefined {
  try {
    const agent = agents.get(wanted.agent)
    if (wanted.capability === ALL_CAPABILITIES || agent.capabilities.includes(wanted.capability)) return agent
    throw noCapability(wanted)
  } catch (error) {
    if (mayKnow || !(error instanceof LocalError)) throw error
    return undefined
  }
}

function tokenOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer ([\w.~+/-]{16,200}=*)$/i.exec(headers.authorization ?? '')?.[1]
}

const denied = (): LocalError =>
  new LocalError(
    'permission_denied',
    'the user of this computer has not allowed this: request it with POST /consents {"agent", "capability"}',
  )

const noCapability = ({ agent, capability }: Permission): LocalError =>
  new LocalError('capability_not_found', `${agent} has no capability ${capability.slice(0, 100)}`)
