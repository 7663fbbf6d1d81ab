import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../services/registry/catalog.js'
import { hasTag, setValidators } from './answer.js'

/** Tells lists of this process from those of another, whose counters mean something else. */
const INSTANCE = createHash('sha256')
  .update(`${process.pid} ${Date.now()} ${Math.random()}`)
  .digest('base64url')
  .slice(0, 6)

/**
 * Validators of a list: it changes only when the catalogue does, or what the caller may see. So the tag needs no look
 * at the body. If-Modified-Since is not enough: a date has whole
 * seconds, in which many agents are registered, and knows nothing of grants.
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
  return hasTag(request, tag)
}

const digest = (text: string): string => createHash('sha1').update(text).digest('base64url').slice(0, 12)
