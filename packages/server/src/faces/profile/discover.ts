import {
  asString,
  DirectoryError,
  type DiscoveryRequest,
  parseDiscoveryRequest,
  toCandidate,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { findAgents } from '../../services/discovery/find.js'
import { readJson } from '../read-request.js'
import { renderFound, sendJson } from '../respond.js'
import { toDiscoveryFilters } from './discovery-filters.js'
import { rounded, toEvidence } from './evidence.js'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100

/** Answers a discovery request (PROF §5, §6). */
export async function discover(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const wanted = parseDiscoveryRequest(readJson(request))
  const { conditions, applied, unsupported, unstated } = toDiscoveryFilters(context, wanted)
  if (unsupported.length > 0 && /\bhandling=strict\b/i.test(String(request.headers.prefer ?? ''))) {
    throw new DirectoryError('unsupported_filter', `these hard filters are not supported: ${unsupported.join(', ')}`, {
      members: { unsupported_filters: [...unsupported] },
    })
  }
  const { text, languages } = withHints(wanted)
  const { found, visited, warnings, evidenceOf } = await findAgents(context, {
    conditions,
    text,
    languages,
    order: 'score',
    preferredTags: wanted.preferred_tags ?? [],
    skip: 0,
    take: Math.min(wanted.limit ?? DEFAULT_LIMIT, MAX_LIMIT),
    caller: request.caller,
    trace: request.trace,
  })
  request.visited += visited
  const { detail = 'summary', protocols } = wanted
  const candidates = renderFound(context, found, (hit) => ({
    ...toCandidate(hit.record, context.catalog.facts(hit.agent), detail, protocols),
    score: rounded(hit.score ?? 0),
    ...(wanted.include_evidence === true && toEvidence(context, hit, wanted, evidenceOf(hit))),
  }))
  const unstatedNames = new Set(found.flatMap(({ record }) => unstated(record)))
  const isRedacted = found.some(({ record }) => record.redacted)
  const allWarnings = [
    ...warnings,
    ...unsupported.map((name) => `the filter ${name} is not supported and was not applied`),
    ...Array.from(unstatedNames, (name) => `some candidates state nothing about ${name} and were not excluded`),
    ...(isRedacted ? ['some candidates are redacted'] : []),
  ]
  return sendJson(reply, {
    request_id: request.caller.requestId,
    generated_at: new Date(context.now()).toISOString(),
    candidates,
    applied_filters: applied,
    ...(unsupported.length > 0 && { unsupported_filters: [...unsupported] }),
    ...(allWarnings.length > 0 && { warnings: allWarnings }),
  })
}

/** Adds the client's domain to the query and prefers the language of its locale; neither excludes an agent. */
function withHints({ query, client_context: hints = {} }: DiscoveryRequest): { text: string; languages: string[] } {
  const [domain, locale] = [asString(hints.domain), asString(hints.locale)]
  const [language] = locale?.toLowerCase().split(/[-_]/) ?? []
  return {
    text: domain === undefined ? query : `${query} (${domain})`,
    languages: language === undefined ? [] : [language],
  }
}
