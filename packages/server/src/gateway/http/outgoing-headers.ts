import { GatewayError } from '../gateway.js'

/** Hop-by-hop headers (RFC 9110 §7.6.1), headers that the sender sets itself, and cookies. */
const DROPPED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Maximum length of `Via`: a longer one is a loop through gateways that do not recognise themselves. */
const MAX_VIA_LENGTH = 1024

/** Characters not allowed in a header value (RFC 9110 §5.5); a line break would start another header. */
const INVALID_CHARACTER = /[^\t\x20-\x7e\x80-\xff]/

/**
 * The headers of an outgoing request: lower-case names, no hop-by-hop headers, no compression. Throws `not_invocable`
 * for a value with invalid characters, which should have been rejected where it entered.
 */
export function outgoingHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const outgoing: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'switchboard' }
  for (const given of Object.keys(headers)) {
    const name = given.toLowerCase()
    const value = headers[given] ?? ''
    if (DROPPED.has(name)) continue
    if (INVALID_CHARACTER.test(value)) {
      throw new GatewayError('not_invocable', `the header ${name} contains characters that are not allowed in a header`)
    }
    outgoing[name] = value
  }
  return outgoing
}

/**
 * Adds this gateway to the `Via` of a call (RFC 9110 §7.6.3). Throws `loop` if it is listed already, however many
 * other gateways are in between.
 */
export function viaFor(received: string | undefined, hopId: string): string {
  const hops = received?.split(',').map((hop) => hop.trim().split(/\s+/)[1]) ?? []
  if (hops.includes(hopId) || (received?.length ?? 0) > MAX_VIA_LENGTH) {
    throw new GatewayError('loop', 'the call has already passed through this gateway')
  }
  return received ? `${received}, 1.1 ${hopId}` : `1.1 ${hopId}`
}
