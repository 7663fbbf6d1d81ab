import { isDid } from './did.js'
import { AgentUriError } from './error.js'
import { checkCharacters } from './grammar.js'
import { isIpFuture, isIpv4, isIpv6 } from './ip.js'
import { decodeOctets, decodeUtf8, normalizePercent } from './percent.js'

/** What kind of name the host of an agent URI is. */
export type HostType = 'reg-name' | 'ipv4' | 'ipv6' | 'ipvfuture' | 'did'

export interface Host {
  readonly host: string
  readonly hostType: HostType
  readonly did?: string
  readonly socketPath?: string
}

/** Reads a host in any of its forms (bare DID, bracketed address, name) and gives its normal form. */
export function readHost(text: string, transport: string | null, offset: number): Host {
  if (text === '') throw new AgentUriError('missing_authority', 'no host', offset)
  if (isDid(text)) return didHost(text)
  if (text.startsWith('[')) return readIpLiteral(text, offset)
  return readName(text, transport, offset)
}

const didHost = (did: string): Host => ({ host: did, hostType: 'did', did })

function readIpLiteral(text: string, offset: number): Host {
  const address = text.slice(1, -1)
  const host = text.toLowerCase()
  if (text.endsWith(']')) {
    if (isIpv6(address)) return { host, hostType: 'ipv6' }
    if (isIpFuture(address)) return { host, hostType: 'ipvfuture' }
  }
  throw new AgentUriError('invalid_host', 'no valid IP address in brackets', offset)
}

function readName(text: string, transport: string | null, offset: number): Host {
  checkCharacters('host', text, offset)
  const decoded = decodeOctets(text)
  if (isDid(decoded)) return didHost(decoded)
  // The host may be a socket path, whose case counts.
  if (transport === 'unix') return readUnixName(normalizePercent(text), offset)

  const host = lowerCaseName(text)
  // "DID%3Aweb%3Ax" is no DID, but its normal form would be one: two readings, so neither.
  if (isDid(decodeOctets(host))) {
    throw new AgentUriError('invalid_host', 'a DID whose scheme or method is not in lower case', offset)
  }
  // Asked of the normal form, lest "%3127.0.0.1" pass for a name.
  return { host, hostType: isIpv4(host) ? 'ipv4' : 'reg-name' }
}

function readUnixName(host: string, offset: number): Host {
  if (!host.startsWith('%2F')) return { host, hostType: isIpv4(host) ? 'ipv4' : 'reg-name' }
  const socketPath = decodeUtf8(host)
  if (socketPath === undefined || socketPath.includes('\0')) {
    throw new AgentUriError('invalid_host', 'no usable socket path (UTF-8 without NUL)', offset)
  }
  return { host, hostType: 'reg-name', socketPath }
}

function lowerCaseName(text: string): string {
  // Decoded first, so that "%41" becomes "a"; again after, because the case of "%C3" was lowered with the rest.
  return normalizePercent(normalizePercent(text).toLowerCase())
}
