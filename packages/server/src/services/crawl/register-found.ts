import { randomUUID } from 'node:crypto'
import {
  DirectoryError,
  detectFormat,
  idProblem,
  invalid,
  parseAirUrn,
  parseDocument,
  sameJson,
} from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import { hasSignature, idOfFound, withAbsoluteAddresses } from '../../policy/crawl.js'
import { assertDocumentSize } from '../../policy/document-limits.js'
import { auditOf, type Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { refreshAgent } from '../registry/refresh.js'
import { registerAgent } from '../registry/register.js'
import { removeAgent } from '../registry/remove.js'
import { rewriteAgent } from '../registry/rewrite.js'
import type { Found } from './read-site.js'
import type { SitePage } from './site.js'

export interface RegisterFoundOptions {
  readonly context: Context
  /** Seconds that an agent stays listed after it was seen. */
  readonly lifetime: number
  readonly httpLoopback: boolean
}

/** Turns what was found at a site into changes of the directory. The host that serves a document owns its agent (C-46). */
export interface RegisterFound {
  /** @param agent the agent that was read from there before */
  (found: Found, agent: string | undefined): Promise<SitePage>
  /** The agent that was read from a URL, unless it has another owner by now. */
  agentFrom(url: string, id: string | undefined): Agent | undefined
  /** The site no longer has the document: its agent stays until its lifetime ends. */
  expire(url: string, id: string, reason: string): Promise<SitePage>
}

export function createRegisterFound({ context, lifetime, httpLoopback }: RegisterFoundOptions): RegisterFound {
  const agentFrom = (url: string, id: string | undefined): Agent | undefined => {
    const agent = id === undefined ? undefined : context.catalog.get(id)
    return agent?.stored.marks.crawled?.url === url ? agent : undefined
  }

  const register = async (found: Extract<Found, { kind: 'document' }>): Promise<SitePage> => {
    const { url, validators } = found
    const { format, id, document } = readFound(found)
    const before = context.catalog.get(id)
    const other = before?.stored.marks.crawled
    if (other && other.url !== url && !found.isVouched) {
      throw new DirectoryError('conflict', `the name "${id}" belongs to an agent that was found at ${other.url}`)
    }
    const { agent, created } = await registerAgent(context, {
      format,
      id,
      document,
      caller: ownerOf(url),
      intent: 'claim',
      lifetime,
      // The site decides which version it publishes.
      compareStamps: false,
      crawledFrom: url,
    })
    const isSame = before?.number === agent.number && sameJson(before.record.document, agent.record.document)
    return { url, agent: id, status: created ? 'created' : isSame ? 'unchanged' : 'updated', ...validators }
  }

  const readFound = ({ url, base, document, isVouched, id: assigned }: Extract<Found, { kind: 'document' }>) => {
    const format = detectFormat(document)
    if (!format) throw new DirectoryError('invalid_request', 'is not a description of an agent in a known format')
    const absolute = withAbsoluteAddresses(document, base)
    if (hasSignature(document) && !sameJson(absolute, document)) {
      const reason = 'has relative addresses, which cannot be completed because it is signed: write complete URLs'
      throw new DirectoryError('invalid_request', reason)
    }
    assertDocumentSize(absolute)
    const { origin: owner, host } = new URL(url)
    const id = assigned ?? idOfFound(format, document, { url, owner, httpLoopback })
    if (id === undefined) throw new DirectoryError('forbidden', `states an id of another domain than ${host}`)
    if (!isVouched && parseAirUrn(id))
      throw new DirectoryError(
        'forbidden',
        `states an identifier of ${host}, which only documents below /.well-known/ can`,
      )
    const problem = idProblem(id)
    if (problem !== undefined) throw invalid([{ at: '/id', message: problem }])
    return { format, id, document: parseDocument(format, absolute, context.policy.strictness) }
  }

  const mark = async (agent: Agent, crawled: { url: string; stale_since?: string }): Promise<void> => {
    const { id } = agent.record
    await rewriteAgent(context, id, ({ stored: { marks } }, at) => ({
      marks: { ...marks, crawled },
      audit: auditOf(ownerOf(crawled.url), 'mark', at, {
        agent: id,
        detail: crawled.stale_since === undefined ? 'found again' : 'no longer found',
      }),
    }))
  }

  const renew = async (agent: Agent, url: string): Promise<void> => {
    if (agent.stored.marks.crawled?.stale_since !== undefined) await mark(agent, { url })
    await refreshAgent(context, { number: agent.number, caller: ownerOf(url), lifetime, changes: undefined })
  }

  const expire = async (url: string, id: string, reason: string): Promise<SitePage> => {
    const agent = agentFrom(url, id)
    if (agent && agent.stored.marks.crawled?.stale_since === undefined) {
      await mark(agent, { url, stale_since: new Date(context.now()).toISOString() })
    }
    return agent ? { url, agent: id, status: 'stale', reason } : { url, status: 'removed', reason }
  }

  const handle = async (found: Found, id: string | undefined): Promise<SitePage> => {
    const { url } = found
    const agent = agentFrom(url, id)
    switch (found.kind) {
      case 'document':
        return register(found)
      case 'unchanged':
        if (agent) await renew(agent, url)
        return { url, status: 'unchanged', ...(agent && { agent: agent.record.id }) }
      case 'gone':
        if (agent) await removeAgent(context, agent.record.id, ownerOf(url))
        return { url, status: 'removed', reason: found.reason, ...(agent && { agent: agent.record.id }) }
      case 'missing':
        return id === undefined ? { url, status: 'failed', reason: found.reason } : expire(url, id, found.reason)
      case 'skipped':
        return { url, status: 'skipped', reason: found.reason }
      case 'invalid':
      case 'failed':
        return { url, status: 'failed', reason: found.reason, ...(agent && { agent: agent.record.id }) }
    }
  }

  return Object.assign(
    async (found: Found, id: string | undefined): Promise<SitePage> => {
      try {
        return await handle(found, id)
      } catch (error) {
        if (!(error instanceof DirectoryError)) throw error
        const { code, message } = error
        return { url: found.url, status: 'failed', code, reason: message, ...(id !== undefined && { agent: id }) }
      }
    },
    { agentFrom, expire },
  )
}

/** The domain that serves a document, as the owner of its agent. */
const ownerOf = (url: string): Caller => ({
  subject: new URL(url).origin,
  kind: 'key',
  scopes: new Set(['publish']),
  address: '127.0.0.1',
  requestId: randomUUID(),
})
