import { type Authority, parseAuthority } from './authority.js'
import { AgentUriError } from './error.js'
import { checkCharacters, readTransport } from './grammar.js'
import { type Params, parseParams } from './params.js'

const SCHEME = 'agent'

/** The parts of an agent URI. An absent part is null, an empty one is "". */
export interface AgentUri extends Authority {
  readonly scheme: 'agent'
  /** The part after "+" in the scheme, in lower case. */
  readonly transport: string | null
  /** As written. `userinfo`, `host` and `port` are its parsed parts. */
  readonly authority: string
  readonly userinfo: string | null
  /** In normal form: an IP literal with brackets, a DID with bare colons. */
  readonly host: string
  readonly port: number | null
  /** As written. The path is opaque: it is not decoded, and dot segments stay. */
  readonly path: string
  /** As written. */
  readonly query: string | null
  /** As written. It is for the client only and is never sent. */
  readonly fragment: string | null
  /** The decoded query. */
  readonly params: Params | null
  /** The DID, if the authority is one. */
  readonly did?: string
  /** The absolute path in an `agent+unix` host. It is not resolved: "/run/../etc" is possible. */
  readonly socketPath?: string
}

/**
 * Parses an agent URI by the grammar of draft-narvaneni-agent-uri-01, section 4.2.
 *
 * @throws {AgentUriError} with the code of the first invalid part, from left to right
 *
 * @example
 * const uri = parseAgentUri('agent+https://translator.example/translate?text=Bonjour')
 * uri.transport // 'https'
 * uri.params // { text: 'Bonjour' }
 */
export function parseAgentUri(text: string): AgentUri {
  const { transport, end } = parseScheme(text)
  if (!text.startsWith('//', end)) {
    throw new AgentUriError('missing_authority', '"//" is missing before the authority', end)
  }
  const authorityStart = end + 2
  const pathStart = findFirst(text, /[/?#]/g, authorityStart)
  const queryStart = findFirst(text, /[?#]/g, pathStart)
  const fragmentStart = findFirst(text, /#/g, queryStart)

  const authority = text.slice(authorityStart, pathStart)
  const parts = parseAuthority(authority, transport, authorityStart)
  const path = checkCharacters('path', text.slice(pathStart, queryStart), pathStart)
  const query = readAfterDelimiter('query', text, queryStart, fragmentStart)
  const fragment = readAfterDelimiter('fragment', text, fragmentStart, text.length)
  const params = query === null ? null : parseParams(query)
  return { scheme: SCHEME, transport, authority, ...parts, path, query, fragment, params }
}

/** Parses "agent" and the transport; `end` is the index after the ":". */
function parseScheme(text: string): { transport: string | null; end: number } {
  const colon = findFirst(text, /[:/?#]/g, 0)
  const [name, plus] = [text.slice(0, SCHEME.length).toLowerCase(), text[SCHEME.length]]
  if (name !== SCHEME || text[colon] !== ':' || (plus !== '+' && colon !== SCHEME.length)) {
    throw new AgentUriError('invalid_scheme', 'the URI must start with "agent:" or "agent+transport:"', 0)
  }
  const transportStart = SCHEME.length + 1
  const transport = plus === '+' ? readTransport(text.slice(transportStart, colon), transportStart) : null
  return { transport, end: colon + 1 }
}

/** Index of the first match of a global pattern at or after `start`, or the length of the text. */
function findFirst(text: string, pattern: RegExp, start: number): number {
  pattern.lastIndex = start
  return pattern.exec(text)?.index ?? text.length
}

/** The part after the "?" or "#" at `start`, or null without that delimiter. */
function readAfterDelimiter(part: 'query' | 'fragment', text: string, start: number, end: number): string | null {
  return start === end ? null : checkCharacters(part, text.slice(start + 1, end), start + 1)
}
