import { asString } from '@switchboard/protocol'
import type { AgentFailure } from '../rpc/agent-error.js'
import { badAnswer } from '../rpc/ask.js'
import type { McpDialogue, McpPlace, McpSession } from './dialogue.js'

/** The newest that is offered, and all that are understood: what is used of MCP here is the same in each of them. */
const NEWEST = '2025-11-25'
const VERSIONS: ReadonlySet<string | undefined> = new Set([NEWEST, '2025-06-18', '2025-03-26', '2024-11-05'])

export type OpenedSession =
  | { readonly kind: 'session'; readonly session: McpSession }
  | { readonly kind: 'failure'; readonly failure: AgentFailure }

/** Introduces the gateway to a server. */
export async function openSession(
  dialogue: McpDialogue,
  place: Omit<McpPlace, 'session'>,
  id: string,
  signal: AbortSignal,
): Promise<OpenedSession> {
  const params = {
    protocolVersion: NEWEST,
    capabilities: {},
    clientInfo: { name: 'switchboard', title: 'Switchboard gateway', version: '1.0.0' },
  }
  const said = await dialogue.request(place, { id, method: 'initialize', params }, signal)
  if (!('reply' in said)) throw badAnswer('its introduction has no end')
  const { reply, session: sessionId } = said
  if (reply.kind !== 'result') return { kind: 'failure', failure: reply.failure }
  const version = asString(reply.result.protocolVersion)
  if (version === undefined || !VERSIONS.has(version)) {
    throw badAnswer(`it speaks version ${version?.slice(0, 20) ?? 'unknown'} of MCP, which is not spoken here`)
  }
  const session = { version, ...(sessionId !== undefined && { id: sessionId }) }
  dialogue.tell({ ...place, session }, { jsonrpc: '2.0', method: 'notifications/initialized' })
  return { kind: 'session', session }
}
