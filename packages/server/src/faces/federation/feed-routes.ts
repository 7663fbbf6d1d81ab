import { createHash } from 'node:crypto'
import { invalid, matchesTag } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Feed } from '../../services/federation/feed.js'
import type { WriteEntry } from '../../services/federation/feed-entry.js'
import { readQuery, wholeNumber } from '../read-request.js'
import { addVary } from '../respond.js'
import type { Route } from '../route-group.js'
import { IF_NONE_MATCH, numberParameter } from '../schemas/parameter.js'
import { json } from '../schemas/response.js'
import { listParts, sendParts } from '../send-parts.js'
import { feedSchema } from './response-schemas.js'

export interface FeedRoutesOptions {
  readonly feed: Feed
  readonly writeEntry: WriteEntry
  readonly baseUrl: () => string
}

const DEFAULT_LIMIT = 200
const MAX_LIMIT = 500
/** Characters of a page above which it ends early: receivers limit what they read at once. */
const MAX_LENGTH = 1_000_000
/** The same for the memory of its documents, which depends on their values (`memoryOf`). */
const MAX_MEMORY = 10_000_000

/** The change feed, from which other directories copy agents. */
export const feedRoutes = (options: FeedRoutesOptions): Route[] => [
  {
    method: 'GET',
    path: '/feed',
    summary: 'Agents for other directories: all of them, or what has changed since a cursor',
    access: 'discover',
    limit: 'lookup',
    query: {
      since: 'the cursor of the page before; without it, the feed starts with a complete list',
      limit: numberParameter(`agents per page, at most ${MAX_LIMIT} (default: ${DEFAULT_LIMIT})`, 1),
    },
    headers: IF_NONE_MATCH,
    responses: {
      200: json(
        'agents, ids of removed agents, the next cursor, and whether there is more to read at once',
        feedSchema,
      ),
      304: 'nothing has changed',
    },
    handle: (request, reply) => sendFeed(options, request, reply),
  },
]

async function sendFeed(
  { feed, writeEntry, baseUrl }: FeedRoutesOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const params = readQuery(request)
  const limit = wholeNumber(params, 'limit', 1) ?? DEFAULT_LIMIT
  const since = params.get('since') ?? undefined
  if (since !== undefined && since.length > 32)
    throw invalid([{ at: '?since', message: 'is not a cursor of this feed: leave it out to read from the start' }])
  const page = feed.page({ since, limit: Math.min(limit, MAX_LIMIT), caller: request.caller })
  const entries: string[] = []
  let [length, memory] = [0, 0]
  for (const agent of page.agents) {
    const entry = await writeEntry(agent)
    length += entry.length
    memory += agent.agent.memory
    if ((length > MAX_LENGTH || memory > MAX_MEMORY) && entries.length > 0) break
    entries.push(entry)
  }
  request.visited += entries.length
  const last = entries.length < page.agents.length ? page.agents[entries.length - 1]?.agent : undefined
  const { removed, full } = page
  const [more, cursor] = last ? [true, page.cursorAfter(last)] : [page.more, page.cursor]
  const rest = { removed, full, more, cursor, service: baseUrl() }
  const parts = listParts('{"agents":[', entries, `],${JSON.stringify(rest).slice(1)}`)
  const tag = `"${digestOf(parts)}"`
  reply.header('cache-control', 'no-cache').header('etag', tag)
  addVary(reply, 'Authorization', 'X-API-Key', 'Cookie')
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return sendParts(reply, parts)
}

function digestOf(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url').slice(0, 22)
}
