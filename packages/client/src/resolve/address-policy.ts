import { classifyAddress, isLoopbackHost, parseIpAddress } from '@switchboard/protocol/addresses'
import { ClientError } from '../errors.js'

/** Which addresses a URI or an untrusted document may lead to; default: public addresses over TLS. */
export interface AddressPolicy {
  /** Also allow this machine and private networks. */
  readonly allowPrivate?: boolean
  /** Connect to this machine without TLS, as for `agent://localhost:8080/`. For development only. */
  readonly httpLoopback?: boolean
}

/**
 * Parses a URL and checks it against the policy: it must use TLS, have no credentials, and not be a literal address
 * outside the public Internet. Host names are not looked up. A program that resolves URIs for others should pass a
 * `fetch` that checks the address when it connects.
 *
 * @throws {ClientError} `insecure` or `blocked_address`; `bad_document` if it is not a URL or has credentials
 */
export function checkAddress(text: string, policy: AddressPolicy): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !SCHEMES.has(url.protocol)) throw new ClientError('bad_document', 'not an https or wss URL')
  if (url.username !== '' || url.password !== '') {
    throw new ClientError('bad_document', `the URL on ${url.host} has credentials, which are not allowed in a document`)
  }
  const loopback = isLoopback(url.hostname)
  if (UNENCRYPTED.has(url.protocol) && !(loopback && policy.httpLoopback)) {
    throw new ClientError('insecure', `${url.protocol}//${url.host} is not encrypted`, { url: url.href })
  }
  if (!isAllowed(url.hostname, loopback, policy)) {
    throw new ClientError('blocked_address', `${url.host} is not a public address`, { url: url.href })
  }
  return url
}

const SCHEMES = new Set(['https:', 'http:', 'wss:', 'ws:'])
const UNENCRYPTED = new Set(['http:', 'ws:'])

function isAllowed(host: string, loopback: boolean, { allowPrivate, httpLoopback }: AddressPolicy): boolean {
  if (loopback) return Boolean(allowPrivate || httpLoopback)
  const address = parseIpAddress(host)
  if (!address) return true
  const kind = classifyAddress(address)
  // No agent has a link-local, metadata, multicast or reserved address, not even in a private network.
  return kind === 'public' || (Boolean(allowPrivate) && (kind === 'private' || kind === 'shared'))
}

/** Whether a host is this machine, in any notation of its address. */
export function isLoopback(host: string): boolean {
  const address = parseIpAddress(host)
  return isLoopbackHost(host) || (address !== undefined && classifyAddress(address) === 'loopback')
}
