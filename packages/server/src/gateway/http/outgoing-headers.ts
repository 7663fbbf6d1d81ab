import { GatewayError } from '../gateway.js'

/** About the connection and not the call, or set by what sends it (RFC 9110 §7.6.1); cookies are the browser's own. */
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

/** Bytes of all gateways on the way together: a longer way is none that anyone meant. */
const MAX_VIA = 1024

/** Characters that no header can hold (RFC 9110 §5.5); a line break would begin another header. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/

/**
 * Headers as they go out: lower-case names, nothing about the connection, no compression. Throws `not_invocable` for a
 * value that cannot be sent: whoever took it from outside should have refused it before.
 */
export function outgoingHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  const outgoing: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'switchboard' }
  for (const [given, value] of headers) {
    const name = given.toLowerCase()
    if (DROPPED.has(name)) continue
    if (UNSENDABLE.test(value)) {
      throw new GatewayError('not_invocable', `the header ${name} holds characters that cannot be sent`)
    }
    outgoing[name] = value
  }
  return outgoing
}

/**
 * The `Via` of a call that goes on from here (RFC 9110 §7.6.3). A call that has been here before is a loop, however
 * many gateways and names lie in between.
 */
export function viaFor(received: string | undefined, hopId: string): string {
  const hops = received?.split(',').map((hop) => hop.trim().split(/\s+/)[1]) ?? []
  if (hops.includes(hopId) || (received?.length ?? 0) > MAX_VIA) {
    throw new GatewayError('loop', 'the call has come through this gateway before')
  }
  return received ? `${received}, 1.1 ${hopId}` : `1.1 ${hopId}`
}
