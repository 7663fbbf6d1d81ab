import { type AgentUri, AgentUriError, parseAgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../errors.js'

/** Characters of a URI that is resolved: more than servers take in a request line, and little to look through. */
const MAX_LENGTH = 8192

/** The parts of an agent URI, or an `invalid_uri` whose cause says which part is wrong. */
export function readUri(text: string): AgentUri {
  if (text.length > MAX_LENGTH)
    throw new ClientError('invalid_uri', `an agent URI of more than ${MAX_LENGTH} characters`)
  try {
    return parseAgentUri(text)
  } catch (cause) {
    if (!(cause instanceof AgentUriError)) throw cause
    throw new ClientError('invalid_uri', `not an agent URI: ${cause.message}`, { cause })
  }
}

/**
 * The URI to use of several for the same agent: one that names its transport, because nothing has to be found out for
 * it, else the first (AURI §6.2).
 */
export function preferExplicit(candidates: readonly string[]): string {
  const first = candidates.find((text) => readUri(text).transport !== null) ?? candidates[0]
  if (first === undefined) throw new ClientError('invalid_argument', 'there is no agent URI to resolve')
  return first
}
