import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuditLog } from '../audit-log.js'
import { isWebOrigin, ORIGIN_RULE } from '../bridge/origin.js'
import type { PageCalls } from '../bridge/page-calls.js'
import type { PermissionFilter } from '../consents/consent.js'
import type { ConsentRequests } from '../consents/consent-requests.js'
import type { ConsentStore } from '../consents/consent-store.js'
import { readJsonObject, stringIn } from '../http/read-body.js'
import { sendJson } from '../http/serve-http.js'
import { LocalError } from '../local-error.js'

export interface ConsentRoutesDeps {
  readonly store: ConsentStore
  readonly requests: ConsentRequests
  readonly calls: PageCalls
  readonly log: AuditLog
}

export type ConsentRoutes = (
  message: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
) => Promise<void>

/** `/consents` for the user's own programs: list consents and open requests, allow (also in advance), revoke. */
export function createConsentRoutes({ store, requests, calls, log }: ConsentRoutesDeps): ConsentRoutes {
  const allow = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readJsonObject(message)
    const agent = stringIn(body, 'agent').toLowerCase()
    const permission = { origin: stringIn(body, 'origin'), agent, capability: stringIn(body, 'capability') }
    if (!isWebOrigin(permission.origin)) throw new LocalError('invalid_input', `/origin: ${ORIGIN_RULE}`)
    await store.allow(permission)
    log.write({ event: 'allowed', ...permission })
    requests.allow(permission)
    sendJson(response, 200, permission)
  }

  const revoke = async (response: ServerResponse, query: URLSearchParams): Promise<void> => {
    const filter = filterOf(query)
    const refused = requests.refuse(filter)
    const revoked = await store.revoke(filter)
    calls.abortUnless(store.isAllowed)
    for (const { origin, agent, capability } of revoked) log.write({ event: 'revoked', origin, agent, capability })
    sendJson(response, 200, { revoked: revoked.map((consent) => ({ ...consent })), refused })
  }

  return async (message, response, query) => {
    switch (message.method) {
      case 'GET': {
        const consents = store.list().map((consent) => ({ ...consent }))
        const questions = requests.list().map((request) => ({ ...request }))
        return sendJson(response, 200, { consents, questions })
      }
      case 'POST':
        return allow(message, response)
      case 'DELETE':
        return revoke(response, query)
      default:
        throw new LocalError('method_not_allowed', '/consents takes GET, POST and DELETE')
    }
  }
}

/** Requires at least one member, so that a forgotten parameter does not revoke everything. */
function filterOf(query: URLSearchParams): PermissionFilter {
  const [origin, agent, capability] = ['origin', 'agent', 'capability'].map((name) => query.get(name) ?? undefined)
  if (origin === undefined && agent === undefined && capability === undefined) {
    throw new LocalError('invalid_input', 'say what to revoke with ?origin, ?agent or ?capability')
  }
  return {
    ...(origin !== undefined && { origin }),
    ...(agent !== undefined && { agent: agent.toLowerCase() }),
    ...(capability !== undefined && { capability }),
  }
}
