import { invalid, toArdEntry } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { AVAILABLE, findAgents } from '../../services/discovery/find.js'
import type { PageTokens } from '../../services/discovery/page-tokens.js'
import type { Query } from '../../services/discovery/query.js'
import type { Readable } from '../../services/registry/read.js'
import { isListUnchanged } from '../list-validators.js'
import { readQuery, wholeNumber } from '../read-request.js'
import { renderOnce } from '../respond.js'
import { numberParameter } from '../schemas/parameter.js'
import { listParts, sendParts } from '../send-parts.js'
import { readListFilter } from './list-filter.js'
import { MAX_SIZE } from './search.js'

const DEFAULT_SIZE = 20

/** The parameters of GET /ard/agents (ARD 0.91 §5.3.5). */
export const LIST_QUERY = {
  filter: `clauses with AND, on displayName, type, publisherId, createdAfter and updatedAfter: type = 'application/a2a-agent-card+json' AND updatedAfter > '2026-01-01'`,
  orderBy: 'displayName, createdAt (default) or createdAt DESC',
  pageSize: numberParameter(`number of entries, 20 by default, ${MAX_SIZE} at most`, 1),
  pageToken: 'of the page before, with the same filter and order',
}

/** The orders that the index has; ARD's examples spell the names in two ways. */
const ORDERS = new Map<string, Query['order']>([
  ['displayname', 'name'],
  ['name', 'name'],
  ['createdat', 'registration'],
  ['createdat desc', 'newest'],
])

/** Entries without ranking, for portals. */
export async function listEntries(
  { context, tokens }: { readonly context: Context; readonly tokens: PageTokens },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const params = readQuery(request)
  const filter = params.get('filter') ?? ''
  const conditions = filter.trim() === '' ? [] : readListFilter(context, filter)
  const order = readOrder(params.get('orderBy') ?? 'createdAt')
  const take = Math.min(wholeNumber(params, 'pageSize', 1) ?? DEFAULT_SIZE, MAX_SIZE)
  const key = JSON.stringify(['list', filter, order])
  const skip = tokens.read(params.get('pageToken') ?? undefined, key, '?pageToken')
  if (isListUnchanged(request, reply, context, { caller: request.caller, showsTimes: false }))
    return reply.code(304).send()
  const { found, total, visited } = await findAgents(context, {
    conditions: [...conditions, AVAILABLE],
    order,
    skip,
    take,
    caller: request.caller,
    trace: request.trace,
  })
  request.visited += visited
  const next = total > skip + take ? { pageToken: tokens.write(skip + take, key) } : {}
  const items = found.map((hit) => entryText(context, hit))
  return sendParts(reply, listParts('{"items":[', items, `],${JSON.stringify({ total, ...next }).slice(1)}`))
}

/** The complete entry of an agent as text, which is cached. */
export const entryText = ({ catalog }: Pick<Context, 'catalog'>, { agent, record }: Readable): string =>
  renderOnce(agent, record.redacted ? 'ard.r' : 'ard', () => toArdEntry(record, catalog.facts(agent)))

function readOrder(text: string): Query['order'] {
  const order = ORDERS.get(
    text
      .trim()
      .toLowerCase()
      .replaceAll('_', '')
      .replace(/\s+asc$/, '')
      .replaceAll(/\s+/g, ' '),
  )
  if (order === undefined)
    throw invalid([{ at: '?orderBy', message: 'must be displayName, createdAt or createdAt DESC' }])
  return order
}
