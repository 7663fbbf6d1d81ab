import { createHash } from 'node:crypto'
import { matchesTag } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../services/registry/catalog.js'
import { setValidators } from './respond.js'

/** Distinguishes the tags of this process from those of another, which has its own version counters. */
const INSTANCE = createHash('sha256')
  .update(`${process.pid} ${Date.now()} ${Math.random()}`)
  .digest('base64url')
  .slice(0, 6)

/**
 * Sets the validators of a list; true if the client's copy is current. A list changes only with the catalog or with what
 * the caller may see, so the tag does not depend on the body. If-Modified-Since is ignored: its resolution of one second
 * is too coarse, and grants do not change the date.
 */
export function isListUnchanged(
  request: FastifyRequest,
  reply: FastifyReply,
  catalog: Catalog,
  grantsVersion: number,
): boolean {
  const { kind, subject, scopes } = request.caller
  const state = `${INSTANCE}.${catalog.index.version.toString(36)}.${grantsVersion.toString(36)}`
  const tag = kind === 'anonymous' ? `W/"${state}"` : `W/"${state}.${digest(`${subject} ${[...scopes].join()}`)}"`
  reply.header('cache-control', 'no-cache')
  setValidators(reply, tag, catalog.modifiedAt)
  return matchesTag(request.headers['if-none-match'], tag)
}

const digest = (text: string): string => createHash('sha1').update(text).digest('base64url').slice(0, 12)
