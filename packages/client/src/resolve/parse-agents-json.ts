import { type AgentsIndex, type JsonObject, readAgentsIndex } from '@switchboard/protocol'
import { ClientError } from '../errors.js'

export type { AgentsIndex, IndexedAgent } from '@switchboard/protocol'

/**
 * Reads an agents.json. Its relative URLs are relative to `url`. Entries that are neither URLs nor objects are ignored.
 *
 * @throws {ClientError} `bad_document` if it has no object `agents`
 */
export function parseAgentsJson(document: JsonObject, url: string): AgentsIndex {
  const index = readAgentsIndex(document, url)
  if (index) return index
  throw new ClientError('bad_document', `${url}: /agents must be an object that maps names to agent.json URLs`, { url })
}
