import { asString } from '@switchboard/protocol'
import type { AgentFailure } from '../rpc/agent-failure.js'
import { badResponse } from '../rpc/send-json.js'
import type { McpClient, McpSession, McpTarget } from './mcp-client.js'

/** Supported versions; what the gateway uses of MCP is the same in all of them. */
const NEWEST = '2025-11-25'
const VERSIONS: ReadonlySet<string | undefined> = new Set([NEWEST, '2025-06-18', '2025-03-26', '2024-11-05'])

/** A session, or the error response of the server. */
export type OpenedSession =
  | { readonly kind: 'session'; readonly session: McpSession }
  | { readonly kind: 'failure'; readonly failure: AgentFailure }

/** Initialises a session with a server; a stateless server gives it no id. */
export async function openSession(
  client: McpClient,
  target: Omit<McpTarget, 'session'>,
  id: string,
  signal: AbortSignal,
): Promise<OpenedSession> {
  const params = {
    protocolVersion: NEWEST,
    capabilities: {},
    clientInfo: { name: 'switchboard', title: 'Switchboard gateway', version: '1.0.0' },
  }
  const response = await client.request(target, { id, method: 'initialize', params }, signal)
  if (!('reply' in response)) throw badResponse('it streams the result of initialize')
  const { reply, session: sessionId } = response
  if (reply.kind !== 'result') return { kind: 'failure', failure: reply.failure }
  const version = asString(reply.result.protocolVersion)
  if (version === undefined || !VERSIONS.has(version)) {
    throw badResponse(`MCP version ${version?.slice(0, 20) ?? 'unknown'} is not supported`)
  }
  const session = { version, ...(sessionId !== undefined && { id: sessionId }) }
  client.notify({ ...target, session }, { jsonrpc: '2.0', method: 'notifications/initialized' })
  return { kind: 'session', session }
}
