import { type AgentUri, AgentUriError, parseAgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../errors.js'

/** Longest URI that is resolved; most servers reject longer request lines. */
const MAX_LENGTH = 8192

/**
 * Parses an agent URI.
 *
 * @throws {ClientError} `invalid_uri`, with an `AgentUriError` as its cause
 */
export function readUri(text: string): AgentUri {
  if (text.length > MAX_LENGTH)
    throw new ClientError('invalid_uri', `the agent URI has more than ${MAX_LENGTH} characters`)
  try {
    return parseAgentUri(text)
  } catch (cause) {
    if (!(cause instanceof AgentUriError)) throw cause
    throw new ClientError('invalid_uri', `not an agent URI: ${cause.message}`, { cause })
  }
}

/**
 * Chooses among several URIs of the same agent: one with a transport, because it needs no lookup, else the first
 * (AURI §6.2).
 */
export function preferExplicit(candidates: readonly string[]): string {
  const first = candidates.find((text) => readUri(text).transport !== null) ?? candidates[0]
  if (first === undefined) throw new ClientError('invalid_argument', 'the list of agent URIs is empty')
  return first
}
