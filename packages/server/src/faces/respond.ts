import { isNotModified, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Cancellation, type CancelSignal } from '../cancellation.js'
import type { Context } from '../services/context.js'
import type { Found, FoundPage } from '../services/discovery/find.js'
import type { Agent } from '../services/registry/catalog.js'
import { entityTag } from '../services/registry/entity-tags.js'
import type { Readable } from '../services/registry/read.js'

/** Media type of most responses. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** Request headers that may change a document or list. */
const VARY = ['Authorization', 'X-API-Key', 'Cookie', 'Accept']

/** Characters of the longest URL or list in a header: clients and proxies reject responses whose headers are very long. */
const MAX_LINK_LENGTH = 4096

/** Sends text that is already JSON; bytes are UTF-8. */
export function sendJsonText(reply: FastifyReply, text: string | Uint8Array, type = JSON_TYPE): FastifyReply {
  return reply.header('content-type', type).send(text)
}

export const sendJson = (reply: FastifyReply, value: JsonValue, type?: string): FastifyReply =>
  sendJsonText(reply, JSON.stringify(value), type)

/** Adds warnings as a header, for responses whose body has no member for them: comma-separated, quoted. */
export function addWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length === 0) return
  const quoted = warnings
    .slice(0, 10)
    .map((text) => `"${text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, "'")}"`)
  const known = reply.getHeader('x-switchboard-warnings')
  const added = known === undefined ? quoted : [String(known), ...quoted.filter((one) => !String(known).includes(one))]
  reply.header('x-switchboard-warnings', added.join(', '))
}

/** Which words of the query were corrected, or similar words if none is known. */
export function toSpelling({ corrected, suggestions }: Pick<FoundPage, 'corrected' | 'suggestions'>): JsonObject {
  return {
    ...(corrected.length > 0 && { corrected: corrected.map(({ from, to }) => ({ from, to })) }),
    ...(suggestions.length > 0 && { suggestions: [...suggestions] }),
  }
}

/** The same as headers, for responses that are arrays: corrections as `from=to&…`, both percent-encoded as in a form. */
export function addSpelling(
  reply: FastifyReply,
  { corrected, suggestions }: Pick<FoundPage, 'corrected' | 'suggestions'>,
): void {
  const pairs = new URLSearchParams(corrected.map(({ from, to }): [string, string] => [from, to])).toString()
  if (pairs !== '' && pairs.length <= MAX_LINK_LENGTH) reply.header('x-switchboard-corrected', pairs)
  if (suggestions.length > 0) reply.header('x-switchboard-suggestions', suggestions.map(encodeURIComponent).join(', '))
}

/** Links to the next page. Returns a warning instead if the query is too long to be repeated in a header. */
export function linkNext(reply: FastifyReply, url: string): string[] {
  if (url.length > MAX_LINK_LENGTH)
    return ['the query is too long for a link to the next page: repeat the request with a higher skip or page']
  reply.header('link', `<${url}>; rel="next"`)
  return []
}

/** Names request headers that may change the response, in addition to those already named. */
export function addVary(reply: FastifyReply, ...names: string[]): void {
  const known = reply.getHeader('vary')
  reply.header('vary', [...(known === undefined ? [] : [String(known)]), ...names].join(', '))
}

/** One view of an agent, to be sent as a document. */
export interface AgentDocument extends Readable {
  /** Name of the view; part of the entity tag. */
  readonly view: string
  /** Returns the document, or its JSON text. */
  readonly write: () => JsonObject | string
  readonly type?: string
  /** Seconds for which caches may use a public response without revalidation. */
  readonly maxAge?: number
}

/** Sends an agent's document with validators, or 304 if the client's copy is current. */
export function sendAgent(request: FastifyRequest, reply: FastifyReply, document: AgentDocument): FastifyReply {
  const { agent, record, view, write, type, maxAge } = document
  const shared = request.caller.kind === 'anonymous'
  reply.header('cache-control', maxAge !== undefined && shared ? `public, max-age=${maxAge}` : 'no-cache')
  if (isUnchanged(request, reply, entityTag(agent, view, record.redacted), changeOf(agent)))
    return reply.code(304).send()
  return sendJsonText(reply, renderOnce(agent, record.redacted ? `${view}.r` : view, write), type)
}

/**
 * When the agent last changed, for HTTP dates, which have whole seconds. A change is rounded up to the next second, so that
 * a copy made earlier in the same second is not considered current. A new registration has no earlier copy.
 */
function changeOf({ stored: { createdAt, modifiedAt, receivedAt } }: Agent): number {
  const at = Math.max(modifiedAt, receivedAt)
  return at === createdAt ? at : Math.ceil(at / 1000) * 1000
}

/** The text of a view, cached until the agent changes. */
export function renderOnce(agent: Agent, view: string, write: () => JsonObject | string): string {
  let text = agent.views.get(agent, view)
  if (text === undefined) {
    const document = write()
    text = typeof document === 'string' ? document : JSON.stringify(document)
    agent.views.set(agent, view, text)
  }
  return text
}

/** Renders the results of a search by text, and reports how long it takes. */
export function renderFound<T>(
  { metrics }: Pick<Context, 'metrics'>,
  found: readonly Found[],
  render: (hit: Found) => T,
): T[] {
  const started = performance.now()
  const rendered = found.map(render)
  metrics.searchStage('rendering', performance.now() - started)
  return rendered
}

/** Sets the validators of a response; true if the client's copy is still current (RFC 9110 §13). */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, tag: string, changedAt: number): boolean {
  setValidators(reply, tag, changedAt)
  const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = request.headers
  return isNotModified({ ifNoneMatch, ifModifiedSince }, { tag, changedAt })
}

export function setValidators(reply: FastifyReply, tag: string, changedAt: number): void {
  const modified = new Date(Math.min(changedAt, Date.now()))
  reply.header('etag', tag).header('last-modified', modified.toUTCString())
  addVary(reply, ...VARY)
}

/** Aborted when the caller disconnects before the response is complete. */
export function signalOf({ raw }: FastifyReply): CancelSignal {
  const cancellation = new Cancellation()
  raw.once('close', () => {
    if (!raw.writableFinished) cancellation.abort()
  })
  // It may have disconnected while the call waited for its turn.
  if (raw.destroyed) cancellation.abort()
  return cancellation
}
