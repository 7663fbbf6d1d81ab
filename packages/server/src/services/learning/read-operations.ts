import type { Operation } from '@switchboard/protocol'
import { GatewayError } from '../../gateway/gateway.js'
import { sendOverFetch } from '../../gateway/http/send-over-fetch.js'
import { readCard } from '../../gateway/transports/a2a/read-card.js'
import { listTools } from '../../gateway/transports/mcp/list-tools.js'
import type { OperationSource } from './operation-source.js'
import { readOpenApi } from './read-openapi.js'

/** Reads the operations that an agent lists. Failures are GatewayErrors. */
export type ReadOperations = (
  source: OperationSource,
  /** The agent's credential; it is sent to MCP servers only: cards and API descriptions are public. */
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<readonly Operation[]>

export interface ReadOperationsDeps {
  /** Guarded against internal addresses. */
  readonly fetch: typeof fetch
  readonly newId: () => string
}

export function createReadOperations({ fetch, newId }: ReadOperationsDeps): ReadOperations {
  const sendRequest = sendOverFetch(fetch)
  return async ({ kind, url, headers: asked }, headers, signal) => {
    if (kind === 'mcp') return listTools({ sendRequest, newId }, { url, headers: { ...asked, ...headers } }, signal)
    const operations =
      kind === 'a2a'
        ? (await readCard(sendRequest, url, signal))?.operations
        : await readOpenApi(sendRequest, url, signal)
    if (!operations) throw new GatewayError('bad_response', `the agent has no valid ${NAMES[kind]}`)
    return operations
  }
}

const NAMES = { a2a: 'A2A card', openapi: 'OpenAPI document' }
