import { Readable } from 'node:stream'
import { chooseMediaType, invalid, type JsonObject, NDJSON, writeLine } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuditTrail } from '../../services/operations/audit-trail.js'
import type { AuditEntry, AuditFilter, LoggedEntry } from '../../store/store.js'
import { StoreError } from '../../store/store-error.js'
import { readQuery, readTime, wholeNumber } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { Route } from '../route-group.js'
import { choiceParameter, numberParameter, timeParameter } from '../schemas/parameter.js'
import { auditResponse } from './response-schemas.js'

/** Entries of a response that is not a stream. */
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

/** The audit log, as a list of the newest entries and as a stream of all. */
export function auditRoutes(trail: AuditTrail): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/audit',
      summary: 'Who did what, newest first; with "Accept: application/x-ndjson" the whole log, oldest first',
      access: 'admin',
      query: {
        since: timeParameter('entries from then on'),
        until: timeParameter('entries before it'),
        subject: 'who did it',
        agent: 'the id of the agent',
        action: 'register, update, refresh, remove, expire, mark, key.create, sign-in, request …',
        outcome: choiceParameter(['ok', 'refused'], 'whether it was allowed'),
        q: 'part of who, what, which agent, the detail, the address or the request id, in upper or lower case',
        limit: numberParameter(
          'number of entries; in a list at most 1000 (default: 100), in a stream any (default: all)',
          1,
        ),
        cursor: 'only in a list: `next` of the page before',
        after: 'only in a stream: the cursor of an entry; the stream continues after it',
      },
      responses: { 200: auditResponse },
      handle: (request, reply) => {
        const type = chooseMediaType(request.headers.accept, ['application/json', NDJSON.type])
        return type === NDJSON.type ? sendLog(trail, request, reply) : sendNewest(trail, request, reply)
      },
    },
  ]
}

async function sendNewest(trail: AuditTrail, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const params = readQuery(request)
  if (params.has('after'))
    throw invalid([{ at: '?after', message: 'is for streams: send "Accept: application/x-ndjson"' }])
  const limit = Math.min(wholeNumber(params, 'limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT)
  const before = params.get('cursor') ?? undefined
  const found = await trail
    .read({ ...readFilter(params), ...(before !== undefined && { before }), limit: limit + 1 })
    .catch(refuseCursor('?cursor', 'is not a cursor of this log: start again without it'))
  const page = found.slice(0, limit)
  const next = found.length > limit ? page.at(-1)?.cursor : undefined
  return sendJson(reply, { entries: page.map(({ entry }) => showEntry(entry)), ...(next !== undefined && { next }) })
}

/** A wrong cursor is an error of the request. */
const refuseCursor =
  (at: string, message: string) =>
  (error: unknown): never => {
    throw error instanceof StoreError && error.code === 'cursor_lost' ? invalid([{ at, message }]) : error
  }

/** Streams the log as fast as it is read: memory holds one page, however long the log is. */
async function sendLog(trail: AuditTrail, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const params = readQuery(request)
  const limit = wholeNumber(params, 'limit', 1) ?? Number.POSITIVE_INFINITY
  const pages = trail.follow(params.get('after') ?? undefined, readFilter(params))
  // Read before the response starts, while an error can still be sent.
  const first = await pages
    .next()
    .catch(refuseCursor('?after', 'is not a cursor of this log: start again, with "since"'))
  reply.header('content-type', `${NDJSON.type}; charset=utf-8`)
  return reply.send(Readable.from(linesOf(first, pages, limit)))
}

async function* linesOf(
  first: IteratorResult<LoggedEntry[], unknown>,
  pages: AsyncGenerator<LoggedEntry[]>,
  limit: number,
): AsyncGenerator<string> {
  try {
    let left = limit
    for (let page = first; !page.done && left > 0; page = await pages.next()) {
      const entries = page.value.slice(0, left)
      left -= entries.length
      if (entries.length > 0) yield entries.map(writeLogged).join('')
    }
  } finally {
    await pages.return(undefined)
  }
}

const writeLogged = ({ cursor, entry }: LoggedEntry): string => writeLine({ cursor, ...showEntry(entry) })

const showEntry = ({ at, requestId, ...entry }: AuditEntry): JsonObject => ({
  at: new Date(at).toISOString(),
  ...entry,
  ...(requestId !== undefined && { request_id: requestId }),
})

function readFilter(params: URLSearchParams): Omit<AuditFilter, 'limit' | 'before'> {
  const outcome = params.get('outcome')
  if (outcome !== null && outcome !== 'ok' && outcome !== 'refused')
    throw invalid([{ at: '?outcome', message: 'must be ok or refused' }])
  const [since, until] = [readTime(params, 'since'), readTime(params, 'until')]
  const [subject, agent, action, text] = ['subject', 'agent', 'action', 'q'].map(
    (name) => params.get(name) ?? undefined,
  )
  return {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(subject !== undefined && { subject }),
    ...(agent !== undefined && { agent }),
    ...(action !== undefined && { action }),
    ...(text !== undefined && { text }),
    ...(outcome !== null && { outcome }),
  }
}
