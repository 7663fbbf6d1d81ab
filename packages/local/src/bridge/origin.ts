import type { IncomingMessage } from 'node:http'
import { isLoopbackHost } from '@switchboard/protocol'
import { LocalError } from '../local-error.js'

/**
 * Throws where a request was sent to another name than this computer's: a page can make a name of its own mean
 * 127.0.0.1 (DNS rebinding), and the browser would count the bridge to that page's origin.
 */
export function checkHost({ headersDistinct }: IncomingMessage, port: number): void {
  const [host = '', ...more] = headersDistinct.host ?? []
  const isOwn = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(host.toLowerCase())
  if (!isOwn || more.length > 0) throw new LocalError('misdirected', 'the bridge answers for this computer only')
}

/**
 * The origin that the browser says the page has. Without one, or with one that anybody on the way could have
 * forged (`null`, plain HTTP), nothing is answered.
 */
export function originOf({ headersDistinct }: IncomingMessage): string {
  const [origin, ...more] = headersDistinct.origin ?? []
  if (origin === undefined || more.length > 0) {
    throw new LocalError('permission_denied', 'the bridge is for web pages: a request has one Origin')
  }
  if (!isWebOrigin(origin)) throw new LocalError('permission_denied', ORIGIN_RULE)
  return origin
}

export const ORIGIN_RULE =
  'an origin must be written as https://host, or http://localhost:port for pages of this computer'

/** An origin as browsers write it: https, or http on this computer itself. */
export function isWebOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.origin === text && isSecure(url)
}

const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
