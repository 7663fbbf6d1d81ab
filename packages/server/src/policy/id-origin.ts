import { didWebUrl, isLoopbackHost, parseAirUrn, parseIpAddress, SigningError } from '@switchboard/protocol'

/** Transports of agent URIs whose authority is not a host on the Internet. */
const LOCAL_TRANSPORTS = new Set(['local', 'unix', 'matrix'])

/**
 * The web origin that an id names, if it is a URI with a domain: `https://…`, `agent://…`, `did:web:…` or `urn:air:…`.
 * Only its owner can publish there, so it can vouch for the id. IP addresses name nobody.
 *
 * @param httpLoopback for development: hosts on this machine count too, without TLS
 */
export function originOfId(id: string, httpLoopback: boolean): URL | undefined {
  const url = toUrl(id, httpLoopback)
  if (!url || url.hostname === '') return undefined
  const isLoopback = isLoopbackHost(url.hostname)
  if (isLoopback ? !httpLoopback : url.protocol !== 'https:' || parseIpAddress(url.hostname)) return undefined
  return new URL(`${isLoopback ? 'http' : 'https'}://${url.host}`)
}

function toUrl(id: string, httpLoopback: boolean): URL | undefined {
  if (id.startsWith('did:web:')) return didWebOrigin(id, httpLoopback)
  const publisher = parseAirUrn(id)?.publisher
  if (publisher !== undefined) return URL.canParse(`https://${publisher}`) ? new URL(`https://${publisher}`) : undefined
  const transport = /^agent(?:\+([a-z0-9.-]+))?:\/\//i.exec(id)
  if (transport && LOCAL_TRANSPORTS.has((transport[1] ?? '').toLowerCase())) return undefined
  const url = transport ? `https://${id.slice(transport[0].length)}` : id
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined
}

function didWebOrigin(did: string, httpLoopback: boolean): URL | undefined {
  try {
    return new URL(didWebUrl(did.split('#')[0] ?? did, { httpLoopback }))
  } catch (error) {
    if (error instanceof SigningError) return undefined
    throw error
  }
}
