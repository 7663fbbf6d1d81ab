import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AgentTable } from '../agents/agent-table.js'
import { FROM_AGENT, forwardCall, pathOf, TO_AGENT } from '../agents/forward-call.js'
import type { LocalAgent } from '../agents/local-agent.js'
import { type AuditLog, audited } from '../audit-log.js'
import { EVERYTHING, type Right } from '../consents/consent.js'
import type { ConsentBook } from '../consents/consent-book.js'
import type { Questions } from '../consents/questions.js'
import { readBody, readJsonObject, requireJson, textIn } from '../http/read-body.js'
import { type Handle, readTarget, sendJson } from '../http/serve-http.js'
import { LocalError } from '../local-error.js'
import { allowOrigin, answerPreflight, isPreflight } from './cors.js'
import { checkHost, originOf } from './origin.js'
import type { PageCalls } from './page-calls.js'

export interface BridgeDeps {
  readonly agents: AgentTable
  readonly book: ConsentBook
  readonly questions: Questions
  readonly calls: PageCalls
  readonly log: AuditLog
  readonly now: () => number
  /** The port that the bridge has. */
  readonly port: () => number
}

const PASSES = { to: new Set(TO_AGENT), back: new Set(FROM_AGENT) }

/** Takes any operation, which its body names: it needs consent to everything. */
const UNIFIED = 'invoke'

/**
 * What web pages reach: they ask for consent (`POST /consents`), and with the token they are given for it they call
 * (`POST /agents/{name}/{capability}`). Everything else is refused.
 */
export function createBridgeRoutes(deps: BridgeDeps): Handle {
  const { agents, book, questions, calls, log, now } = deps

  const askForConsent = async (message: IncomingMessage, response: ServerResponse, origin: string): Promise<void> => {
    const body = await readJsonObject(message)
    const wanted = { origin, agent: textIn(body, 'agent').toLowerCase(), capability: textIn(body, 'capability') }
    const presented = tokenOf(message)
    const isKnown = presented !== undefined && book.isToken(origin, presented)
    const give = (token: string): void => sendJson(response, 200, { ...wanted, token })
    // Whoever may learn which agents are here is told what is wrong; all others hear no.
    const described = describe(agents, wanted, isKnown)
    if (described === undefined) throw refused()
    if (book.isAllowed(wanted) && isKnown) return give(presented)
    // Allowed in advance: the first page that asks is the one that was meant.
    if (book.isAllowed(wanted) && !book.hasToken(origin)) return give(await book.issueToken(origin))
    const leaving = new AbortController()
    response.once('close', () => leaving.abort())
    const isYes = await questions.put({ ...wanted, description: described.description }, leaving.signal)
    if (!isYes) throw refused()
    // Said yes elsewhere, it is allowed and written down already.
    if (!book.isAllowed(wanted)) log.write({ event: 'allowed', ...wanted })
    await book.allow(wanted)
    give(isKnown ? presented : await book.issueToken(origin))
  }

  /** Nothing is told, not even whether there is such an agent, before the right is shown. */
  const checkRight = (message: IncomingMessage, right: Right): void => {
    const token = tokenOf(message)
    if (token === undefined || !book.isToken(right.origin, token) || !book.isAllowed(right)) throw refused()
  }

  const call = async (
    message: IncomingMessage,
    response: ServerResponse,
    right: Right,
    how: { readonly method: 'POST' | 'GET' | 'DELETE'; readonly path: string },
  ): Promise<void> => {
    const running = calls.begin(right)
    try {
      await audited({ log, now }, right, response, async () => {
        const agent = agents.get(right.agent)
        const body = how.method === 'POST' ? { body: await readBody(message) } : {}
        const onTask = (id: string): void => calls.addTask(id, right)
        const { signal } = running
        await forwardCall(agents, message, response, { agent, ...how, ...body, passes: PASSES, signal, onTask })
      })
    } catch (error) {
      throw running.signal.aborted ? refused() : error
    } finally {
      running.end()
    }
  }

  const invoke = (message: IncomingMessage, response: ServerResponse, right: Right): Promise<void> => {
    requireJson(message)
    checkRight(message, right.capability === UNIFIED ? { ...right, capability: EVERYTHING } : right)
    const agent = agents.get(right.agent)
    if (right.capability !== UNIFIED && !agent.capabilities.includes(right.capability)) throw noCapability(right)
    return call(message, response, right, { method: 'POST', path: pathOf(right.capability) })
  }

  const task = (message: IncomingMessage, response: ServerResponse, right: Right, id: string): Promise<void> => {
    const started = calls.taskOf(right.agent, id)
    if (started?.origin !== right.origin) throw refused()
    checkRight(message, started.capability === UNIFIED ? { ...started, capability: EVERYTHING } : started)
    const method = message.method === 'DELETE' ? 'DELETE' : 'GET'
    return call(message, response, started, { method, path: `/tasks/${encodeURIComponent(id)}` })
  }

  return async (message, response) => {
    checkHost(message, deps.port())
    const origin = originOf(message)
    allowOrigin(response, origin)
    if (isPreflight(message)) return answerPreflight(message, response)
    const { path } = readTarget(message)
    const [collection, name = '', second, third, ...rest] = path
    const { method } = message
    if (method === 'POST' && collection === 'consents' && path.length === 1) {
      return askForConsent(message, response, origin)
    }
    if (collection === 'agents' && rest.length === 0 && second !== undefined) {
      const right = { origin, agent: name.toLowerCase(), capability: second }
      if (method === 'POST' && third === undefined) return invoke(message, response, right)
      const isTask = second === 'tasks' && third !== undefined && (method === 'GET' || method === 'DELETE')
      if (isTask) return task(message, response, right, third)
    }
    throw refused()
  }
}

/** The agent that a page asks about; undefined if the page may not be told what is wrong with its question. */
function describe(agents: AgentTable, wanted: Right, mayKnow: boolean): LocalAgent | undefined {
  try {
    const agent = agents.get(wanted.agent)
    if (wanted.capability === EVERYTHING || agent.capabilities.includes(wanted.capability)) return agent
    throw noCapability(wanted)
  } catch (error) {
    if (mayKnow || !(error instanceof LocalError)) throw error
    return undefined
  }
}

function tokenOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer ([\w.~+/-]{16,200}=*)$/i.exec(headers.authorization ?? '')?.[1]
}

const refused = (): LocalError =>
  new LocalError(
    'permission_denied',
    'the person at this computer has not allowed this: ask for it with POST /consents {"agent", "capability"}',
  )

const noCapability = ({ agent, capability }: Right): LocalError =>
  new LocalError('capability_not_found', `${agent} has no capability ${capability.slice(0, 100)}`)
