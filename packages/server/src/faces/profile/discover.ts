import {
  asString,
  DirectoryError,
  type DiscoveryRequest,
  given,
  type JsonObject,
  parseDiscoveryRequest,
  toCandidate,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { roundScore } from '../../services/discovery/explain-score.js'
import { type Found, findAgents } from '../../services/discovery/find.js'
import { type FanOut, joinAnswers } from '../../services/federation/fan-out.js'
import { readJson, readLanguages } from '../read-request.js'
import { renderFound, sendJson, toSpelling } from '../respond.js'
import { toDiscoveryFilters } from './discovery-filters.js'
import { toEvidence } from './evidence.js'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100

export interface DiscoverOptions {
  readonly context: Context
  readonly fanOut: FanOut
}

/** Answers a discovery request (PROF §5, §6). */
export async function discover(
  { context, fanOut }: DiscoverOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const wanted = parseDiscoveryRequest(readJson(request))
  const { conditions, applied, unsupported, unstated } = toDiscoveryFilters(context, wanted)
  if (unsupported.length > 0 && /\bhandling=strict\b/i.test(String(request.headers.prefer ?? ''))) {
    throw new DirectoryError('unsupported_filter', `these hard filters are not supported: ${unsupported.join(', ')}`, {
      members: { unsupported_filters: [...unsupported] },
    })
  }
  const { text, languages } = withHints(wanted)
  const take = Math.min(wanted.limit ?? DEFAULT_LIMIT, MAX_LIMIT)
  const { federate, deadline_ms: deadlineMs, include_evidence: withEvidence, ...forPeers } = wanted
  const asked =
    federate === true
      ? fanOut.ask({ by: 'profile', body: toPeers(forPeers), conditions, deadlineMs, trace: request.trace })
      : undefined
  const page = await findAgents(context, {
    conditions,
    text,
    exact: wanted.exact,
    languages,
    callerLanguages: readLanguages(request),
    order: 'score',
    preferredTags: wanted.preferred_tags ?? [],
    skip: 0,
    take,
    explained: withEvidence,
    caller: request.caller,
    trace: request.trace,
  })
  const { found, corrected, searchIdFor } = page
  const answers = await asked
  request.visited += page.visited
  const { detail = 'summary', protocols } = wanted
  const render = (hit: Found): JsonObject => ({
    ...toCandidate(hit.record, context.catalog.facts(hit.agent), detail, protocols),
    score: roundScore(hit.score ?? 0),
    ...(withEvidence === true &&
      toEvidence(context, hit, wanted, { ...page.evidenceOf(hit), corrected }, page.factorsOf(hit))),
  })
  const joinedPage = answers && joinAnswers(context, request.caller, found, answers).slice(0, take)
  const listed = joinedPage ? joinedPage.flatMap((joined) => ('local' in joined ? joined.local : [])) : found
  const candidates = joinedPage
    ? joinedPage.map((joined) => ({
        ...('local' in joined
          ? render({ ...joined.local, score: joined.score })
          : toCandidate(joined.remote.record, joined.remote.facts, detail, protocols)),
        score: roundScore(joined.score),
      }))
    : renderFound(context, found, render)
  const unstatedNames = new Set(found.flatMap(({ record }) => unstated(record)))
  const isRedacted = found.some(({ record }) => record.redacted)
  const allWarnings = [
    ...page.warnings,
    ...(answers?.warnings ?? []),
    ...unsupported.map((name) => `the filter ${name} is not supported and was not applied`),
    ...Array.from(unstatedNames, (name) => `some candidates state nothing about ${name} and were not excluded`),
    ...(isRedacted ? ['some candidates are redacted'] : []),
  ]
  return sendJson(reply, {
    request_id: request.caller.requestId,
    generated_at: new Date(context.now()).toISOString(),
    candidates,
    ...given('search_id', searchIdFor(listed)),
    applied_filters: applied,
    ...(unsupported.length > 0 && { unsupported_filters: [...unsupported] }),
    ...toSpelling(page),
    ...(allWarnings.length > 0 && { warnings: allWarnings }),
  })
}

/** What peers are asked: for whole documents, which are checked here, and nothing about the client. */
const toPeers = ({ client_context: _hints, ...wanted }: DiscoveryRequest): JsonObject => ({ ...wanted, detail: 'full' })

/** Adds the client's domain to the query and prefers the language of its locale; neither excludes an agent. */
function withHints({ query, client_context: hints = {} }: DiscoveryRequest): { text: string; languages: string[] } {
  const [domain, locale] = [asString(hints.domain), asString(hints.locale)]
  const [language] = locale?.toLowerCase().split(/[-_]/) ?? []
  return {
    text: domain === undefined ? query : `${query} (${domain})`,
    languages: language === undefined ? [] : [language],
  }
}
