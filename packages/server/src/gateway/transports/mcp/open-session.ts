import { asString, asStrings, type JsonObject } from '@switchboard/protocol'
import type { CancelSignal } from '../../../cancellation.js'
import { GatewayError } from '../../gateway.js'
import type { AgentFailure } from '../rpc/agent-failure.js'
import { badResponse } from '../rpc/send-json.js'
import { CLIENT_INFO } from './envelope.js'
import {
  lastReply,
  type McpClient,
  type McpReply,
  type McpRequest,
  type McpSession,
  type McpTarget,
} from './mcp-client.js'
import {
  HANDSHAKE_VERSIONS,
  isHandshakeVersion,
  STATELESS_VERSION,
  supportedIn,
  unsupportedVersion,
} from './versions.js'

/** A session, or the error response of the server. Without a handshake, the session is only the version. */
export type OpenedSession =
  | { readonly kind: 'session'; readonly session: McpSession }
  | { readonly kind: 'failure'; readonly failure: AgentFailure }

/** How sessions with a server start. */
export type McpEra = 'stateless' | 'handshake'

/** Statuses that say nothing about versions: the credential is wrong, or the server is overloaded. */
const UNRELATED: ReadonlySet<number> = new Set([401, 403, 429, 503])

export interface OpenSessionDeps {
  readonly client: McpClient
  readonly newId: () => string
}

/**
 * Agrees with a server on a version: first that of today, which has no handshake, then those before, whose servers
 * reject the first request in various ways. A stateless server of those gives the session no id.
 *
 * @param known what the server has agreed to before
 */
export async function openSession(
  { client, newId }: OpenSessionDeps,
  target: Omit<McpTarget, 'session'>,
  signal: CancelSignal,
  known?: McpEra,
): Promise<OpenedSession> {
  const stateless: OpenedSession = { kind: 'session', session: { version: STATELESS_VERSION } }
  if (known === 'stateless') return stateless
  if (known === undefined) {
    const request = { id: newId(), method: 'server/discover', params: {} }
    const reply = await unlessBad(replyTo(client, { ...target, session: stateless.session }, request, signal))
    const theirs = reply && versionsOf(reply)
    if (theirs?.includes(STATELESS_VERSION)) return stateless
    if (theirs && !theirs.some(isHandshakeVersion)) return { kind: 'failure', failure: unsupportedVersion(theirs) }
    if (reply && reply.kind !== 'result' && UNRELATED.has(reply.failure.status))
      return { kind: 'failure', failure: reply.failure }
  }
  return initialize(client, target, newId(), signal)
}

async function initialize(
  client: McpClient,
  target: Omit<McpTarget, 'session'>,
  id: string,
  signal: CancelSignal,
): Promise<OpenedSession> {
  const params = { protocolVersion: HANDSHAKE_VERSIONS[0], capabilities: {}, clientInfo: CLIENT_INFO }
  const response = await client.request(target, { id, method: 'initialize', params }, signal)
  if (!('reply' in response)) throw badResponse('it streams the result of initialize')
  const { reply, session: sessionId } = response
  if (reply.kind !== 'result') {
    const theirs = versionsOf(reply)
    return { kind: 'failure', failure: theirs ? unsupportedVersion(theirs) : reply.failure }
  }
  const version = asString(reply.result.protocolVersion)
  if (version === undefined || !isHandshakeVersion(version))
    return { kind: 'failure', failure: unsupportedVersion(version === undefined ? [] : [version]) }
  const session = { version, ...(sessionId !== undefined && { id: sessionId }) }
  client.notify({ ...target, session }, { jsonrpc: '2.0', method: 'notifications/initialized' })
  return { kind: 'session', session }
}

/** The versions of a server, from its description or from its rejection of ours; `undefined` if it names none. */
function versionsOf(reply: McpReply): string[] | undefined {
  if (reply.kind !== 'result') return supportedIn(reply.error?.data)
  return listOf(reply.result)
}

const listOf = ({ supportedVersions }: JsonObject): string[] | undefined =>
  Array.isArray(supportedVersions) ? asStrings(supportedVersions) : undefined

async function replyTo(
  client: McpClient,
  target: McpTarget,
  request: McpRequest,
  signal: CancelSignal,
): Promise<McpReply> {
  const response = await client.request(target, request, signal)
  return 'reply' in response ? response.reply : lastReply(response)
}

/** Servers of earlier versions may respond to a request that they do not know with anything. */
async function unlessBad(reading: Promise<McpReply>): Promise<McpReply | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'bad_response') return undefined
    throw error
  }
}
