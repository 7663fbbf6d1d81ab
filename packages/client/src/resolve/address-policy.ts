import { classifyAddress, isLoopbackHost, parseIpAddress } from '@switchboard/protocol'
import { ClientError } from '../errors.js'

/** Where a URI, or a stranger's document, may lead; closed unless opened. */
export interface AddressPolicy {
  /** Addresses of this machine and of private networks too: agents on the own premises, tests. */
  readonly allowPrivate?: boolean
  /** This machine by plain HTTP: `agent://localhost:8080/` is asked without TLS. For development only. */
  readonly httpLoopback?: boolean
}

/**
 * The URL if it may be asked: encrypted, without credentials, and not by a literal address of a network that is not
 * public. What a name leads to is known only to whoever connects: a program that resolves for strangers passes a
 * `fetch` that checks it there.
 *
 * @throws {ClientError} `insecure`, `blocked_address` or, if it is none or names credentials, `bad_document`
 */
export function checkAddress(text: string, policy: AddressPolicy): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !HIERARCHICAL.has(url.protocol)) throw new ClientError('bad_document', 'not an https or wss URL')
  if (url.username !== '' || url.password !== '') {
    throw new ClientError('bad_document', `the URL on ${url.host} names credentials: a document is no place for them`)
  }
  const loopback = isLoopback(url.hostname)
  if (PLAIN.has(url.protocol) && !(loopback && policy.httpLoopback)) {
    throw new ClientError('insecure', `${url.protocol}//${url.host} is not encrypted`, { url: url.href })
  }
  if (!isAllowed(url.hostname, loopback, policy)) {
    throw new ClientError('blocked_address', `${url.host} is not a public address`, { url: url.href })
  }
  return url
}

const HIERARCHICAL = new Set(['https:', 'http:', 'wss:', 'ws:'])
const PLAIN = new Set(['http:', 'ws:'])

function isAllowed(host: string, loopback: boolean, { allowPrivate, httpLoopback }: AddressPolicy): boolean {
  if (loopback) return Boolean(allowPrivate || httpLoopback)
  const address = parseIpAddress(host)
  if (!address) return true
  const kind = classifyAddress(address)
  // Link-local and metadata addresses, multicast and the like are nobody's agent on any premises.
  return kind === 'public' || (Boolean(allowPrivate) && (kind === 'private' || kind === 'shared'))
}

/** Whether a host is this machine, however its address is spelled. */
export function isLoopback(host: string): boolean {
  const address = parseIpAddress(host)
  return isLoopbackHost(host) || (address !== undefined && classifyAddress(address) === 'loopback')
}
