import { createHash } from 'node:crypto'
import { matchesTag } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../policy/caller.js'
import type { Context } from '../services/context.js'
import type { Agent } from '../services/registry/catalog.js'
import { setValidators } from './respond.js'

/** Distinguishes the tags of this process from those of another, which has its own version counters. */
const INSTANCE = createHash('sha256')
  .update(`${process.pid} ${Date.now()} ${Math.random()}`)
  .digest('base64url')
  .slice(0, 6)

/** What a list is made of. */
export interface ListContent {
  /** Who sees it. */
  readonly caller: Caller
  /** Whether it shows, or is ordered by, more than the content of documents: when agents were received and when they expire. */
  readonly showsTimes: boolean
}

/**
 * Sets the validators of a list; true if the client's copy is current. They depend on nothing that the caller may not see:
 * on the changes of what everybody sees, and on the agents of which this caller sees more. If-Modified-Since is ignored:
 * its resolution of one second is too coarse, and removals and grants do not change the date.
 */
export function isListUnchanged(
  request: FastifyRequest,
  reply: FastifyReply,
  { catalog, hidden }: Context,
  { caller, showsTimes }: ListContent,
): boolean {
  const { changes, refreshes, changedAt, refreshedAt } = catalog.publicState
  const own = hidden.shownTo(caller)
  request.visited += own.length
  const state = [INSTANCE, changes.toString(36), ...(showsTimes ? [refreshes.toString(36)] : [])]
  const tag = `W/"${[...state, ...(own.length > 0 ? [digestOf(own)] : [])].join('.')}"`
  const modifiedAt = own.reduce(
    (last, { stored }) => Math.max(last, stored.modifiedAt),
    showsTimes ? refreshedAt : changedAt,
  )
  reply.header('cache-control', 'no-cache')
  setValidators(reply, tag, modifiedAt)
  return matchesTag(request.headers['if-none-match'], tag)
}

/** Changes with every change of the agents, and with which they are. */
function digestOf(agents: readonly Agent[]): string {
  const hash = createHash('sha1')
  for (const { record, stored, expiresAt, findings } of agents) {
    const { modifiedAt, receivedAt } = stored
    hash.update(`${record.id.length} ${record.id} ${modifiedAt} ${receivedAt} ${expiresAt} ${findings.tag}\n`)
  }
  return hash.digest('base64url').slice(0, 12)
}
