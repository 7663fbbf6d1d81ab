import {
  assertValid,
  compileSchema,
  isObject,
  type JsonObject,
  publisherOf,
  toArdSummary,
  toRemoteArdSummary,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { type Found, findAgents } from '../../services/discovery/find.js'
import type { PageTokens } from '../../services/discovery/page-tokens.js'
import { type FanOut, joinAnswers } from '../../services/federation/fan-out.js'
import type { KnownPeer, Peers } from '../../services/federation/peers.js'
import type { PullState } from '../../services/federation/pull-state.js'
import { readJson, readLanguages } from '../read-request.js'
import { addWarnings, renderOnce } from '../respond.js'
import { listParts, sendParts } from '../send-parts.js'
import { querySchema, readArdQuery, requireText } from './ard-query.js'

const DEFAULT_SIZE = 10
export const MAX_SIZE = 100

/** The body of POST /ard/search (ARD 0.91 §5.3.2). */
export const searchSchema: JsonObject = {
  type: 'object',
  required: ['query'],
  properties: {
    query: { ...querySchema, required: ['text'] },
    federation: {
      enum: ['auto', 'referrals', 'none'],
      description: '`auto` (default) also asks the peers of this directory, `referrals` names them',
    },
    pageSize: { type: 'integer', minimum: 1, description: `10 by default, ${MAX_SIZE} at most` },
    pageToken: { type: 'string', description: 'of the page before, for the same query' },
  },
}
const check = compileSchema(searchSchema)

export interface ArdSearchOptions {
  readonly context: Context
  readonly tokens: PageTokens
  readonly fanOut: FanOut
  readonly peers: Pick<Peers, 'list'>
  /** How far the agents of a peer have been read, and by which interface. */
  readonly stateOf: (peer: KnownPeer) => PullState
  readonly baseUrl: () => string
}

/** The entry of a search interface, here or at a peer. */
export const registryUrl = (base: string): string => `${base}/ard/`

/** Entries by relevance, of this directory and, as the client wishes, of its peers. */
export async function searchEntries(
  options: ArdSearchOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, tokens, baseUrl } = options
  const body = readJson(request)
  assertValid(check(body))
  const { query, pageSize, pageToken, federation = 'auto' } = isObject(body) ? body : {}
  const read = readArdQuery(context, query)
  const text = requireText(read)
  const { conditions } = read
  const take = Math.min(typeof pageSize === 'number' ? pageSize : DEFAULT_SIZE, MAX_SIZE)
  const key = JSON.stringify(['search', query ?? null, federation])
  const skip = tokens.read(typeof pageToken === 'string' ? pageToken : undefined, key, '/pageToken')
  const isFederated = federation === 'auto' && options.peers.list().length > 0
  const asked = isFederated
    ? options.fanOut.ask({
        by: 'profile',
        body: { query: text, limit: Math.min(skip + take, MAX_SIZE), detail: 'full' },
        conditions,
        deadlineMs: undefined,
        trace: request.trace,
      })
    : undefined
  const page = await findAgents(context, {
    conditions,
    text,
    callerLanguages: readLanguages(request),
    order: 'score',
    // Results are joined by their ranks, which start with the first.
    skip: isFederated ? 0 : skip,
    take: isFederated ? skip + take : take,
    caller: request.caller,
    trace: request.trace,
  })
  request.visited += page.visited
  const answers = await asked
  addWarnings(reply, [...page.warnings, ...(answers?.warnings ?? [])])
  const { found } = page
  const hasRemote = answers?.lists.some(({ agents }) => agents.length > 0) === true
  const joined =
    answers && hasRemote
      ? joinAnswers(context, request.caller, found, answers)
      : found.map((local) => ({ local, score: local.score ?? 0 }))
  const shown = isFederated ? joined.slice(skip, skip + take) : joined
  const searchId = page.searchIdFor(shown.flatMap((item) => ('local' in item ? item.local : [])))
  if (searchId !== undefined) reply.header('x-search-id', searchId)
  const source = registryUrl(baseUrl())
  const items = shown.map((item) =>
    'local' in item
      ? localText(context, { ...item.local, score: item.score }, source)
      : JSON.stringify({
          ...toRemoteArdSummary(item.remote.record, item.remote.facts),
          score: toArdScore(item.score),
          source: registryUrl(item.remote.facts.baseUrl),
        }),
  )
  const remote = joined.filter((item) => 'remote' in item).length
  const rest = {
    ...(federation === 'referrals' && { referrals: referralsOf(options) }),
    ...(page.total + remote > skip + take && { pageToken: tokens.write(skip + take, key) }),
  }
  const end = JSON.stringify(rest).slice(1)
  return sendParts(reply, listParts('{"results":[', items, end === '}' ? ']}' : `],${end}`))
}

/** The cached summary of a local agent, with what depends on the query inserted before its closing brace. */
function localText(context: Context, hit: Found, source: string): string {
  const { agent, record, score = 0 } = hit
  const text = renderOnce(agent, record.redacted ? 'ard-summary.r' : 'ard-summary', () =>
    toArdSummary(record, context.catalog.facts(agent)),
  )
  return `${text.slice(0, -1)},${JSON.stringify({ score: toArdScore(score), source }).slice(1)}`
}

/** Scores of ARD are whole numbers from 0 to 100; ours are probabilities. */
const toArdScore = (score: number): number => Math.round(Math.min(Math.max(score, 0), 1) * 100)

/** The peers that the client may ask itself: only directories of our kind are known to speak ARD. */
function referralsOf({ peers, stateOf }: ArdSearchOptions): JsonObject[] {
  const speaksArd = (peer: KnownPeer): boolean =>
    peer.trust !== 'none' && (stateOf(peer).protocol ?? peer.protocol) === 'feed'
  return peers
    .list()
    .filter(speaksArd)
    .map(({ name, url }) => ({
      identifier: `urn:air:${publisherOf(url)}:registry:switchboard`,
      displayName: name,
      type: 'application/ai-registry+json',
      url: `${registryUrl(url)}search`,
    }))
}
