import type { JsonObject, JsonValue } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../services/registry/catalog.js'
import { entityTag } from '../services/registry/entity-tags.js'
import type { Readable } from '../services/registry/read.js'

const JSON_TYPE = 'application/json; charset=utf-8'

/** What may change an answer besides its URL. */
const VARY = 'Authorization, X-API-Key, Accept'

/** Sends a JSON text as it is. */
export function sendJsonText(reply: FastifyReply, text: string, type = JSON_TYPE): FastifyReply {
  return reply.header('content-type', type).send(text)
}

export const sendJson = (reply: FastifyReply, value: JsonValue, type?: string): FastifyReply =>
  sendJsonText(reply, JSON.stringify(value), type)

/** Warnings of answers whose body has no place for them: one line, comma-separated, quoted (CONTRACT). */
export function addWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length === 0) return
  const quoted = warnings
    .slice(0, 10)
    .map((text) => `"${text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, "'")}"`)
  reply.header('x-switchboard-warnings', quoted.join(', '))
}

export interface AgentAnswer extends Readable {
  /** Name of the view, part of the entity tag. */
  readonly view: string
  readonly write: () => JsonObject
  readonly type?: string
  /** Seconds that caches may keep a public answer without asking. */
  readonly maxAge?: number
}

/** One agent's document, with validators; 304 where the client has it already. */
export function sendAgent(request: FastifyRequest, reply: FastifyReply, answer: AgentAnswer): FastifyReply {
  const { agent, record, view, write, type, maxAge } = answer
  const shared = request.caller.kind === 'anonymous'
  reply.header('cache-control', maxAge !== undefined && shared ? `public, max-age=${maxAge}` : 'no-cache')
  if (isUnchanged(request, reply, entityTag(agent, view, record.redacted), changeOf(agent)))
    return reply.code(304).send()
  return sendJsonText(reply, renderOnce(agent, record.redacted ? `${view}.r` : view, write), type)
}

/**
 * When the agent last changed, for dates, which have whole seconds: a change counts from the next one, so that a copy
 * made earlier in the same second is not taken for it. Of a new registration there is no earlier copy.
 */
function changeOf({ stored: { createdAt, modifiedAt, receivedAt } }: Agent): number {
  const at = Math.max(modifiedAt, receivedAt)
  return at === createdAt ? at : Math.ceil(at / 1000) * 1000
}

/** The text of a view, made once for as long as the agent stays as it is. */
export function renderOnce(agent: Agent, view: string, write: () => JsonObject): string {
  let text = agent.rendered.get(view)
  if (text === undefined) {
    text = JSON.stringify(write())
    agent.rendered.set(view, text)
  }
  return text
}

/** Sets the validators of an answer; true if the client's copy is still good (RFC 9110 §13). */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, tag: string, changedAt: number): boolean {
  setValidators(reply, tag, changedAt)
  if (request.headers['if-none-match'] !== undefined) return hasTag(request, tag)
  const since = Date.parse(request.headers['if-modified-since'] ?? '')
  return !Number.isNaN(since) && Math.floor(changedAt / 1000) * 1000 <= since
}

export function setValidators(reply: FastifyReply, tag: string, changedAt: number): void {
  const modified = new Date(Math.min(changedAt, Date.now()))
  reply.header('etag', tag).header('last-modified', modified.toUTCString()).header('vary', VARY)
}

/** Whether If-None-Match names the tag. */
export function hasTag(request: FastifyRequest, tag: string): boolean {
  const known = request.headers['if-none-match']
  if (known === undefined) return false
  return known.trim() === '*' || known.split(',').some((text) => opaque(text) === opaque(tag))
}

/** Weak comparison: caches may have weakened the tag. */
const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/** The value of a header that is sent once. */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}
