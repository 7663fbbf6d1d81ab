import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuditLog } from '../audit-log.js'
import { isWebOrigin, ORIGIN_RULE } from '../bridge/origin.js'
import type { PageCalls } from '../bridge/page-calls.js'
import type { RightFilter } from '../consents/consent.js'
import type { ConsentBook } from '../consents/consent-book.js'
import type { Questions } from '../consents/questions.js'
import { readJsonObject, textIn } from '../http/read-body.js'
import { sendJson } from '../http/serve-http.js'
import { LocalError } from '../local-error.js'

export interface ConsentRoutesDeps {
  readonly book: ConsentBook
  readonly questions: Questions
  readonly calls: PageCalls
  readonly log: AuditLog
}

export type ConsentRoutes = (
  message: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
) => Promise<void>

/** `/consents` for the person's own programs: what is allowed and asked, yes in advance, and no at any time. */
export function createConsentRoutes({ book, questions, calls, log }: ConsentRoutesDeps): ConsentRoutes {
  const allow = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readJsonObject(message)
    const agent = textIn(body, 'agent').toLowerCase()
    const right = { origin: textIn(body, 'origin'), agent, capability: textIn(body, 'capability') }
    if (!isWebOrigin(right.origin)) throw new LocalError('invalid_input', `/origin: ${ORIGIN_RULE}`)
    await book.allow(right)
    log.write({ event: 'allowed', ...right })
    questions.allow(right)
    sendJson(response, 200, right)
  }

  const revoke = async (response: ServerResponse, query: URLSearchParams): Promise<void> => {
    const filter = filterOf(query)
    const refused = questions.refuse(filter)
    const revoked = await book.revoke(filter)
    calls.endUnless(book.isAllowed)
    for (const { origin, agent, capability } of revoked) log.write({ event: 'revoked', origin, agent, capability })
    sendJson(response, 200, { revoked: revoked.map((consent) => ({ ...consent })), refused })
  }

  return async (message, response, query) => {
    switch (message.method) {
      case 'GET': {
        const consents = book.list().map((consent) => ({ ...consent }))
        const waiting = questions.list().map((question) => ({ ...question }))
        return sendJson(response, 200, { consents, questions: waiting })
      }
      case 'POST':
        return allow(message, response)
      case 'DELETE':
        return revoke(response, query)
      default:
        throw new LocalError('method_not_allowed', 'consents are asked for, given and revoked')
    }
  }
}

/** At least one member: nothing is revoked by leaving a word out. */
function filterOf(query: URLSearchParams): RightFilter {
  const [origin, agent, capability] = ['origin', 'agent', 'capability'].map((name) => query.get(name) ?? undefined)
  if (origin === undefined && agent === undefined && capability === undefined) {
    throw new LocalError('invalid_input', '?origin, ?agent or ?capability must say what is revoked')
  }
  return {
    ...(origin !== undefined && { origin }),
    ...(agent !== undefined && { agent: agent.toLowerCase() }),
    ...(capability !== undefined && { capability }),
  }
}
