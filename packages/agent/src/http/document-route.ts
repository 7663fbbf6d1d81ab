import { chooseMediaType, DESCRIPTOR_TYPES, isNotModified } from '@switchboard/protocol'
import type { Published } from '../descriptor/published.js'
import { AgentError } from '../errors.js'
import type { Exchange } from './exchange.js'

/** A public document with its caching headers: Cache-Control, ETag, Last-Modified (AURI §5.1). */
export function documentResponse(
  { request }: Exchange,
  { body, tag, changedAt }: Published,
  maxAge: number,
  offered: readonly string[] = DESCRIPTOR_TYPES,
): Response {
  if (request.method !== 'GET') {
    throw new AgentError('method_not_allowed', 'a document can only be read: use GET', {
      headers: { allow: 'GET, HEAD' },
    })
  }
  const type = chooseMediaType(request.headers.get('accept'), offered)
  if (type === undefined) {
    throw new AgentError('not_acceptable', `this document is offered as ${offered.join(', ')}`, {
      members: { supported: [...offered] },
    })
  }
  const headers = {
    'cache-control': `public, max-age=${maxAge}`,
    etag: tag,
    'last-modified': new Date(changedAt).toUTCString(),
    vary: 'Accept',
    // Public documents may be read by pages of any origin.
    'access-control-allow-origin': '*',
  }
  const conditions = {
    ifNoneMatch: request.headers.get('if-none-match'),
    ifModifiedSince: request.headers.get('if-modified-since'),
  }
  if (isNotModified(conditions, { tag, changedAt })) return new Response(null, { status: 304, headers })
  return new Response(body, { headers: { ...headers, 'content-type': type, 'x-content-type-options': 'nosniff' } })
}
