import { formatAuthority } from './authority.js'
import { AgentUriError } from './error.js'
import { checkCharacters, readTransport } from './grammar.js'
import { formatParams, type WritableParams } from './params.js'
import { type AgentUri, parseAgentUri } from './parse.js'
import { normalizePercent } from './percent.js'

/** The parts that are written. A result of `parseAgentUri` has them all. */
export type FormattableUri = Pick<AgentUri, 'transport' | 'userinfo' | 'host' | 'port' | 'path' | 'query' | 'fragment'>

export interface FormatOptions {
  /** Write a DID with bare colons, as in the draft's example. Strict URI parsers reject that form. */
  readonly raw?: boolean
}

/** The parts for `buildAgentUri`. There is no userinfo: do not put credentials into a URI. */
export interface AgentUriSpec {
  readonly transport?: string
  /** A name, an address (IPv6 in brackets) or a DID. */
  readonly host: string
  readonly port?: number
  /** Empty or starting with "/", percent-encoded where needed. */
  readonly path?: string
  /** Not encoded: `buildAgentUri` encodes them. */
  readonly params?: WritableParams
  /** Percent-encoded where needed. */
  readonly fragment?: string
}

/**
 * Writes an agent URI in its normal form, without the password in its userinfo.
 *
 * @throws {AgentUriError} if a part is not valid in its place, such as a path that does not start with "/"
 *
 * @example
 * const uri = parseAgentUri('agent://did:web:example.com/p')
 * formatAgentUri(uri) // 'agent://did%3Aweb%3Aexample.com/p'
 * formatAgentUri(uri, { raw: true }) // 'agent://did:web:example.com/p'
 */
export function formatAgentUri(uri: FormattableUri, options: FormatOptions = {}): string {
  const user = uri.userinfo?.split(':', 1)[0] ?? null
  return write({ ...uri, userinfo: user }, options.raw ?? false)
}

/**
 * Returns the normal form of an agent URI: two URIs are equivalent if their normal forms are equal. It keeps the
 * userinfo, including a password: use `formatAgentUri` for what people or logs will see.
 *
 * @throws {AgentUriError} if the text is not an agent URI
 *
 * @example
 * normalizeAgentUri('AGENT://Example.com:0443/%7euser') // 'agent://example.com:443/~user'
 */
export function normalizeAgentUri(text: string): string {
  return write(parseAgentUri(text), false)
}

/**
 * Builds an agent URI from its parts and encodes the parameters.
 *
 * @throws {AgentUriError} if a part is not valid
 *
 * @example
 * buildAgentUri({ host: 'h.example', path: '/p', params: { text: 'a&b' } }) // 'agent://h.example/p?text=a%26b'
 */
export function buildAgentUri(spec: AgentUriSpec, options: FormatOptions = {}): string {
  const { transport = null, host, port = null, path = '', params = {}, fragment = null } = spec
  const query = formatParams(params) || null
  return formatAgentUri({ transport, userinfo: null, host, port, path, query, fragment }, options)
}

function write(uri: FormattableUri, raw: boolean): string {
  const transport = uri.transport === null ? null : readTransport(uri.transport, 'agent+'.length)
  let text = transport === null ? 'agent://' : `agent+${transport}://`
  text += formatAuthority(uri, transport, raw, text.length)
  if (uri.path !== '' && !uri.path.startsWith('/')) {
    throw new AgentUriError('invalid_path', 'the path does not start with "/"', text.length)
  }
  text += normalizePercent(checkCharacters('path', uri.path, text.length))
  if (uri.query !== null) text += `?${normalizePercent(checkCharacters('query', uri.query, text.length + 1))}`
  if (uri.fragment !== null) text += `#${normalizePercent(checkCharacters('fragment', uri.fragment, text.length + 1))}`
  return text
}
