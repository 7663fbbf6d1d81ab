import {
  type AgentRecord,
  DirectoryError,
  type DiscoveryRequest,
  foldTag,
  type JsonObject,
  parseDiscoveryRequest,
  profileTags,
  toCandidate,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { AVAILABLE, type Condition, type Found, findAgents, speaksProtocol } from '../../services/find.js'
import { sendJson } from '../answer.js'
import { readJson } from '../body.js'
import { toConstraints } from './constraints.js'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100

/** How much the query's words weigh against the preferred tags. */
const WORDS_WEIGHT = 0.8

/** Answers a discovery request (PROF §5, §6). */
export function discover(
  context: Context,
  searchByText: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const wanted = parseDiscoveryRequest(readJson(request))
  const { conditions, applied, unsupported, unstated } = toFilters(context, wanted)
  if (unsupported.length > 0 && /\bhandling=strict\b/i.test(String(request.headers.prefer ?? ''))) {
    throw new DirectoryError('unsupported_filter', `these hard filters are not supported: ${unsupported.join(', ')}`, {
      members: { unsupported_filters: unsupported },
    })
  }
  const { found } = findAgents(context, {
    conditions,
    text: wanted.query,
    order: 'score',
    skip: 0,
    // Preferred tags may lift what the words alone rank lower.
    take: MAX_LIMIT,
    caller: request.caller,
    wordsOnlyOrder: !searchByText,
  })
  const limit = Math.min(wanted.limit ?? DEFAULT_LIMIT, MAX_LIMIT)
  const chosen = found
    .map((hit) => ({ hit, score: scoreOf(hit, wanted) }))
    .sort((a, b) => b.score.total - a.score.total || a.hit.agent.number - b.hit.agent.number)
    .slice(0, limit)
  const candidates = chosen.map(({ hit, score }) => candidate(context, hit, wanted, score))
  const silent = new Set(chosen.flatMap(({ hit }) => unstated(hit.record)))
  const warnings = [
    ...(searchByText ? [] : ['search by text is off: the filters alone decide, words only order']),
    ...unsupported.map((name) => `the filter ${name} is not supported and was not applied`),
    ...Array.from(silent, (name) => `some candidates state nothing about ${name} and were let pass`),
    ...(candidates.some(({ redacted }) => redacted === true) ? ['some candidates are shown in part'] : []),
  ]
  return sendJson(reply, {
    request_id: request.caller.requestId,
    generated_at: new Date(context.now()).toISOString(),
    candidates,
    applied_filters: applied,
    ...(unsupported.length > 0 && { unsupported_filters: unsupported }),
    ...(warnings.length > 0 && { warnings }),
  })
}

interface Filters {
  readonly conditions: Condition[]
  readonly applied: JsonObject
  readonly unsupported: string[]
  readonly unstated: (record: AgentRecord) => string[]
}

/** A tag that names its taxonomy by a URI; this directory knows plain tags only. */
const isForeignTag = (tag: string): boolean => /^(urn|https?):/i.test(tag)

function toFilters(context: Context, wanted: DiscoveryRequest): Filters {
  const { required_tags: required = [], excluded_tags: excluded = [], protocols = [] } = wanted
  const constraints = toConstraints(wanted.constraints ?? {}, context.catalog.get, context.now())
  const own = (tags: string[]): string[] => tags.filter((tag) => !isForeignTag(tag))
  return {
    conditions: [
      ...own(required).map((value): Condition => ({ kind: 'profile-tag', value })),
      ...own(excluded).map((value): Condition => ({ kind: 'profile-tag', value, excluded: true })),
      ...(protocols.length > 0 ? [{ kind: 'profile-protocol', anyOf: protocols } satisfies Condition] : []),
      ...constraints.conditions,
      AVAILABLE,
    ],
    applied: {
      ...(required.length > 0 && { required_tags: own(required) }),
      ...(excluded.length > 0 && { excluded_tags: own(excluded) }),
      ...(protocols.length > 0 && { protocols }),
      ...(Object.keys(constraints.applied).length > 0 && { constraints: constraints.applied }),
    },
    unsupported: [...constraints.unsupported, ...[...required, ...excluded].filter(isForeignTag)],
    unstated: constraints.unstated,
  }
}

interface Score {
  readonly total: number
  readonly tag: number
  readonly context: number
}

function scoreOf({ record, score = 0 }: Found, { preferred_tags: preferred = [] }: DiscoveryRequest): Score {
  const tags = new Set(profileTags(record).map(foldTag))
  const tag = preferred.length === 0 ? 1 : preferred.filter((wish) => tags.has(foldTag(wish))).length / preferred.length
  return { total: WORDS_WEIGHT * score + (1 - WORDS_WEIGHT) * tag, tag, context: score }
}

const rounded = (score: number): number => Math.round(score * 1e4) / 1e4

function candidate(context: Context, { agent, record }: Found, wanted: DiscoveryRequest, score: Score): JsonObject {
  const shown = toCandidate(record, context.catalog.facts(agent), wanted.detail ?? 'summary')
  const { protocols } = wanted
  const bindings = Array.isArray(shown.bindings) ? shown.bindings : []
  const fitting = bindings.filter((binding) => {
    const protocol =
      typeof binding === 'object' && binding !== null && 'protocol' in binding ? String(binding.protocol) : ''
    return !protocols || protocols.length === 0 || protocols.some((wish) => speaksProtocol(protocol, wish))
  })
  return {
    ...shown,
    bindings: fitting,
    score: rounded(score.total),
    ...(wanted.include_evidence === true && evidence(record, wanted, score)),
  }
}

function evidence(record: Found['record'], wanted: DiscoveryRequest, score: Score): JsonObject {
  const asked = new Set([...(wanted.required_tags ?? []), ...(wanted.preferred_tags ?? [])].map(foldTag))
  return {
    score_components: { tag: rounded(score.tag), context: rounded(score.context) },
    matched_tags: profileTags(record).filter((tag) => asked.has(foldTag(tag))),
  }
}
