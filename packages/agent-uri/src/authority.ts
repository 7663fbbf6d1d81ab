import { encodeDid, isDid } from './did.js'
import { AgentUriError } from './error.js'
import { checkCharacters } from './grammar.js'
import { type Host, readHost } from './host.js'
import { normalizePercent } from './percent.js'

const MAX_PORT = 65_535

export interface Authority extends Host {
  readonly userinfo: string | null
  readonly port: number | null
}

/** `[userinfo "@"] host [":" port]`, or a bare DID, which is looked for first because of its colons. */
export function parseAuthority(text: string, transport: string | null, offset: number): Authority {
  if (text === '') throw new AgentUriError('missing_authority', 'no authority', offset)
  if (isDid(text)) return { userinfo: null, port: null, ...readHost(text, transport, offset) }

  const hostStart = text.lastIndexOf('@') + 1
  const userinfo = hostStart === 0 ? null : checkCharacters('userinfo', text.slice(0, hostStart - 1), offset)
  const hostEnd = findHostEnd(text, hostStart, offset)
  const host = readHost(text.slice(hostStart, hostEnd), transport, offset + hostStart)
  const port = parsePort(text.slice(hostEnd + 1), offset + hostEnd + 1)
  return refuseExtrasOfDid({ userinfo, port, ...host }, offset)
}

/**
 * Writes an authority in its normal form.
 *
 * @param raw write a DID with bare colons, as in the draft's example, and not percent-encoded
 */
export function formatAuthority(
  parts: Pick<Authority, 'userinfo' | 'host' | 'port'>,
  transport: string | null,
  raw: boolean,
  offset: number,
): string {
  const { userinfo, port } = parts
  const user = userinfo === null ? '' : `${normalizePercent(checkCharacters('userinfo', userinfo, offset))}@`
  const host = readHost(parts.host, transport, offset + user.length)
  if (port !== null && !isPort(port)) throw outOfRange(offset + user.length)
  refuseExtrasOfDid({ userinfo, port, ...host }, offset)
  const written = host.did === undefined || raw ? host.host : encodeDid(host.did)
  return user + written + (port === null ? '' : `:${port}`)
}

/** Index of the ":" before the port, or of the end. */
function findHostEnd(text: string, start: number, offset: number): number {
  if (text[start] === '[') {
    const end = text.indexOf(']', start) + 1
    if (end === 0) throw new AgentUriError('invalid_host', '"[" without "]"', offset + start)
    if (end < text.length && text[end] !== ':') {
      throw new AgentUriError('invalid_host', 'something other than a port after "]"', offset + end)
    }
    return end
  }
  const colon = text.indexOf(':', start)
  if (colon === -1) return text.length
  const second = text.indexOf(':', colon + 1)
  if (second === -1) return colon
  throw new AgentUriError('invalid_host', 'a second ":" (no DID; an IPv6 address needs brackets)', offset + second)
}

function parsePort(text: string, offset: number): number | null {
  if (text === '') return null
  if (/[^0-9]/.test(text)) throw new AgentUriError('invalid_port', 'a port that is no number', offset)
  const port = Number(text)
  if (!isPort(port)) throw outOfRange(offset)
  return port
}

const isPort = (port: number) => Number.isInteger(port) && port >= 0 && port <= MAX_PORT

const outOfRange = (position: number) =>
  new AgentUriError('invalid_port', `a port that is not from 0 to ${MAX_PORT}`, position)

/** A did:web writes its port inside the DID, and userinfo before a bare DID could not be read back. */
function refuseExtrasOfDid(authority: Authority, offset: number): Authority {
  if (authority.did === undefined) return authority
  if (authority.userinfo !== null) throw new AgentUriError('invalid_userinfo', 'userinfo before a DID', offset)
  if (authority.port !== null) throw new AgentUriError('invalid_port', 'a port after a DID, in the authority', offset)
  return authority
}
