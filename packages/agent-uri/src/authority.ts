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

/** Parses `[userinfo "@"] host [":" port]` or a bare DID. The DID is tried first because it contains colons. */
export function parseAuthority(text: string, transport: string | null, offset: number): Authority {
  if (text === '') throw new AgentUriError('missing_authority', 'the authority is missing', offset)
  if (isDid(text)) return { userinfo: null, port: null, ...readHost(text, transport, offset) }

  const hostStart = text.lastIndexOf('@') + 1
  const userinfo = hostStart === 0 ? null : checkCharacters('userinfo', text.slice(0, hostStart - 1), offset)
  const hostEnd = findHostEnd(text, hostStart, offset)
  const host = readHost(text.slice(hostStart, hostEnd), transport, offset + hostStart)
  const port = parsePort(text.slice(hostEnd + 1), offset + hostEnd + 1)
  return assertBareDid({ userinfo, port, ...host }, offset)
}

/**
 * Writes an authority in its normal form.
 *
 * @param raw write a DID with bare colons, as in the draft's example, instead of percent-encoded
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
  assertBareDid({ userinfo, port, ...host }, offset)
  const written = host.did === undefined || raw ? host.host : encodeDid(host.did)
  return user + written + (port === null ? '' : `:${port}`)
}

/** Index of the ":" before the port, or of the end. */
function findHostEnd(text: string, start: number, offset: number): number {
  if (text[start] === '[') {
    const end = text.indexOf(']', start) + 1
    if (end === 0) throw new AgentUriError('invalid_host', '"[" is not closed by "]"', offset + start)
    if (end < text.length && text[end] !== ':') {
      throw new AgentUriError('invalid_host', 'only a port may follow "]"', offset + end)
    }
    return end
  }
  const colon = text.indexOf(':', start)
  if (colon === -1) return text.length
  const second = text.indexOf(':', colon + 1)
  if (second === -1) return colon
  throw new AgentUriError(
    'invalid_host',
    'unexpected second ":" (this is not a DID, and an IPv6 address needs brackets)',
    offset + second,
  )
}

function parsePort(text: string, offset: number): number | null {
  if (text === '') return null
  if (/[^0-9]/.test(text)) throw new AgentUriError('invalid_port', 'the port is not a number', offset)
  const port = Number(text)
  if (!isPort(port)) throw outOfRange(offset)
  return port
}

const isPort = (port: number) => Number.isInteger(port) && port >= 0 && port <= MAX_PORT

const outOfRange = (position: number) =>
  new AgentUriError('invalid_port', `the port is not between 0 and ${MAX_PORT}`, position)

/** A did:web contains its port, and userinfo before a bare DID could not be parsed again. */
function assertBareDid(authority: Authority, offset: number): Authority {
  if (authority.did === undefined) return authority
  if (authority.userinfo !== null) throw new AgentUriError('invalid_userinfo', 'a DID cannot have userinfo', offset)
  if (authority.port !== null)
    throw new AgentUriError('invalid_port', 'a DID cannot have a port (did:web writes it inside the DID)', offset)
  return authority
}
