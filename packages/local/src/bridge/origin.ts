import type { IncomingMessage } from 'node:http'
import { isLoopbackHost } from '@switchboard/protocol'
import { LocalError } from '../local-error.js'

/**
 * Throws unless `Host` is a loopback name. With DNS rebinding a page can point its own host name at 127.0.0.1, and
 * the browser would then treat the bridge as part of that page's origin.
 */
export function checkHost({ headersDistinct }: IncomingMessage, port: number): void {
  const [host = '', ...more] = headersDistinct.host ?? []
  const isOwn = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(host.toLowerCase())
  if (!isOwn || more.length > 0)
    throw new LocalError('misdirected', 'Host must be 127.0.0.1, localhost or [::1] with the port of the bridge')
}

/** The origin of the page, from the browser. Origins that can be forged (`null`, plain HTTP) are rejected. */
export function originOf({ headersDistinct }: IncomingMessage): string {
  const [origin, ...more] = headersDistinct.origin ?? []
  if (origin === undefined || more.length > 0) {
    throw new LocalError(
      'permission_denied',
      'the bridge is for web pages: a request must have exactly one Origin header',
    )
  }
  if (!isWebOrigin(origin)) throw new LocalError('permission_denied', ORIGIN_RULE)
  return origin
}

/** The error message for an origin that `isWebOrigin` rejects. */
export const ORIGIN_RULE = 'an origin must be https://host[:port], or http://localhost:port for pages on this computer'

/** Whether this is an origin in the form that browsers send, with https, or http on loopback. */
export function isWebOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.origin === text && isSecure(url)
}

const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
