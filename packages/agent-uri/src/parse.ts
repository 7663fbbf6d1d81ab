import { type Authority, parseAuthority } from './authority.js'
import { AgentUriError } from './error.js'
import { checkCharacters, readTransport } from './grammar.js'
import { type Params, parseParams } from './params.js'

const SCHEME = 'agent'

/** The parts of an agent URI. A part that is absent is null; one that is present and empty is "". */
export interface AgentUri extends Authority {
  readonly scheme: 'agent'
  /** What follows "+" in the scheme, in lower case. */
  readonly transport: string | null
  /** As written; the other members of the authority are what it means. */
  readonly authority: string
  readonly userinfo: string | null
  /** In normal form; an IP literal with its brackets, a DID with bare colons. */
  readonly host: string
  readonly port: number | null
  /** As written: opaque, so neither decoded nor collapsed. */
  readonly path: string
  /** As written. */
  readonly query: string | null
  /** As written. It is for the client only and never sent. */
  readonly fragment: string | null
  /** The query decoded. */
  readonly params: Params | null
  /** The DID, if the authority is one. */
  readonly did?: string
  /** The absolute path that an `agent+unix` host encodes; not resolved, so "/run/../etc" is possible. */
  readonly socketPath?: string
}

/**
 * Reads an agent URI by the grammar of draft-narvaneni-agent-uri-01, section 4.2.
 *
 * @throws {AgentUriError} with the code of the first part that is wrong, from left to right
 *
 * @example
 * const uri = parseAgentUri('agent+https://translator.example/translate?text=Bonjour')
 * uri.transport // 'https'
 * uri.params // { text: 'Bonjour' }
 */
export function parseAgentUri(text: string): AgentUri {
  const { transport, end } = parseScheme(text)
  if (!text.startsWith('//', end)) {
    throw new AgentUriError('missing_authority', 'no "//" before the authority', end)
  }
  const authorityStart = end + 2
  const pathStart = findFirst(text, /[/?#]/g, authorityStart)
  const queryStart = findFirst(text, /[?#]/g, pathStart)
  const fragmentStart = findFirst(text, /#/g, queryStart)

  const authority = text.slice(authorityStart, pathStart)
  const parts = parseAuthority(authority, transport, authorityStart)
  const path = checkCharacters('path', text.slice(pathStart, queryStart), pathStart)
  const query = readAfterMark('query', text, queryStart, fragmentStart)
  const fragment = readAfterMark('fragment', text, fragmentStart, text.length)
  const params = query === null ? null : parseParams(query)
  return { scheme: SCHEME, transport, authority, ...parts, path, query, fragment, params }
}

/** Reads "agent" and the transport; `end` is the index after the ":". */
function parseScheme(text: string): { transport: string | null; end: number } {
  const colon = findFirst(text, /[:/?#]/g, 0)
  const [name, plus] = [text.slice(0, SCHEME.length).toLowerCase(), text[SCHEME.length]]
  if (name !== SCHEME || text[colon] !== ':' || (plus !== '+' && colon !== SCHEME.length)) {
    throw new AgentUriError('invalid_scheme', 'no scheme "agent:" or "agent+transport:"', 0)
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

/** The part after the "?" or "#" at `start`, or null if there is no such mark. */
function readAfterMark(part: 'query' | 'fragment', text: string, start: number, end: number): string | null {
  return start === end ? null : checkCharacters(part, text.slice(start + 1, end), start + 1)
}
