import { isDid } from './did.js'
import { AgentUriError } from './error.js'
import { checkCharacters } from './grammar.js'
import { isIpFuture, isIpv4, isIpv6 } from './ip.js'
import { decodeOctets, decodeUtf8, normalizePercent } from './percent.js'

/** The kind of host in an agent URI. */
export type HostType = 'reg-name' | 'ipv4' | 'ipv6' | 'ipvfuture' | 'did'

export interface Host {
  readonly host: string
  readonly hostType: HostType
  readonly did?: string
  readonly socketPath?: string
}

/** Parses a host in any of its forms (bare DID, bracketed address, name) into its normal form. */
export function readHost(text: string, transport: string | null, offset: number): Host {
  if (text === '') throw new AgentUriError('missing_authority', 'the host is missing', offset)
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
  throw new AgentUriError('invalid_host', 'the brackets do not contain a valid IP address', offset)
}

function readName(text: string, transport: string | null, offset: number): Host {
  checkCharacters('host', text, offset)
  const decoded = decodeOctets(text)
  if (isDid(decoded)) return didHost(decoded)
  // The host may be a socket path, which is case-sensitive.
  if (transport === 'unix') return readUnixName(normalizePercent(text), offset)

  const host = lowerCaseName(text)
  // "DID%3Aweb%3Ax" is not a DID, but its normal form would be one: ambiguous, so it is rejected.
  if (isDid(decodeOctets(host))) {
    throw new AgentUriError('invalid_host', 'the scheme and method of a DID must be in lower case', offset)
  }
  // Tested on the normal form, so that "%3127.0.0.1" does not pass for a name.
  return { host, hostType: isIpv4(host) ? 'ipv4' : 'reg-name' }
}

function readUnixName(host: string, offset: number): Host {
  if (!host.startsWith('%2F')) return { host, hostType: isIpv4(host) ? 'ipv4' : 'reg-name' }
  const socketPath = decodeUtf8(host)
  if (socketPath === undefined || socketPath.includes('\0')) {
    throw new AgentUriError('invalid_host', 'the socket path is not valid UTF-8 or contains NUL', offset)
  }
  return { host, hostType: 'reg-name', socketPath }
}

function lowerCaseName(text: string): string {
  // Decode first, so that "%41" becomes "a". Normalize again, because toLowerCase also changed "%C3" to "%c3".
  return normalizePercent(normalizePercent(text).toLowerCase())
}
