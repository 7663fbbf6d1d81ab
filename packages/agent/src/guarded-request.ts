import { lookup } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { classifyAddress, isLoopbackHost, parseIpAddress, readBytes } from '@switchboard/protocol'
import { AgentError } from './errors.js'

/** Milliseconds for one request and its response. */
const TIMEOUT_MS = 10_000

/** Which addresses supplied by other parties may be called. */
export interface AddressRules {
  /** Allows addresses of private networks and of this machine, the latter over plain HTTP too; for development. */
  readonly allowPrivate: boolean
}

export interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
  /** Bytes of the response; a longer one is an error. */
  readonly maxBytes: number
}

export interface GuardedResponse {
  readonly status: number
  readonly body: Uint8Array
}

/**
 * Sends a request to an address that comes from another party: over TLS, without following redirects, and to public
 * networks only. The address is checked when the connection is opened, so that DNS rebinding cannot get around it.
 */
export async function guardedRequest(request: GuardedRequest, rules: AddressRules): Promise<GuardedResponse> {
  const url = checkUrl(request.url, rules)
  const limit = AbortSignal.timeout(TIMEOUT_MS)
  const signal = request.signal ? AbortSignal.any([request.signal, limit]) : limit
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send(url, { method: request.method, headers: request.headers ?? {}, agent: false, lookup: guard(rules), signal })
      .on('response', resolve)
      .on('error', reject)
      .end(request.body)
  })
  const tooLarge = (): AgentError => blocked(`${url.host} responded with more than ${request.maxBytes} bytes`)
  return { status: response.statusCode ?? 0, body: await readBytes(response, request.maxBytes, tooLarge) }
}

/** Parses a URL, and rejects it if its scheme, credentials or literal address are not allowed. */
export function checkUrl(text: string, { allowPrivate }: AddressRules): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.username !== '' || url.password !== '') throw blocked('not a URL, or one with credentials')
  const isPlainLocal = url.protocol === 'http:' && allowPrivate && isLoopbackHost(url.hostname)
  if (url.protocol !== 'https:' && !isPlainLocal) throw blocked(`${url.protocol}//${url.host} is not encrypted`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isAllowed(host, allowPrivate)) throw blocked(`${url.host} is not a public address`)
  return url
}

const guard =
  ({ allowPrivate }: AddressRules): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '')
      const bad = addresses.find(({ address }) => !isAllowed(address, allowPrivate))
      if (bad || addresses.length === 0) return callback(blocked(`${host} is not a public address`), '')
      if (options.all) return callback(null, addresses)
      const [first] = addresses
      return callback(null, first?.address ?? '', first?.family)
    })
  }

function isAllowed(host: string, allowPrivate: boolean): boolean {
  const address = parseIpAddress(host)
  if (!address) return false
  const kind = classifyAddress(address)
  return kind === 'public' || (allowPrivate && (kind === 'loopback' || kind === 'private' || kind === 'shared'))
}

const blocked = (message: string): AgentError => new AgentError('invalid_input', message)
