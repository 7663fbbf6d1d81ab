import { asStrings, isObject, type JsonValue } from '@switchboard/protocol'
import { type AgentFailure, agentFailure } from '../rpc/agent-failure.js'

/** The version without a handshake: every request names it, and there are no sessions. */
export const STATELESS_VERSION = '2026-07-28'
/** Versions that are agreed on with `initialize`; what the gateway uses of MCP is the same in all of them. */
export const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** Versions of a server that an error lists; they come from the server. */
const MAX_LISTED = 10

export const isHandshakeVersion = (version: string | undefined): boolean =>
  HANDSHAKE_VERSIONS.some((known) => known === version)

/** The versions that a server lists when it rejects the requested one; `undefined` if it rejects something else. */
export function supportedIn(data: JsonValue | undefined): string[] | undefined {
  return isObject(data) && Array.isArray(data.supported) ? asStrings(data.supported) : undefined
}

/** The failure of a server that speaks no version in common with us. */
export function unsupportedVersion(theirs: readonly string[]): AgentFailure {
  const listed = theirs.map((version) => version.replaceAll(/[^\w.-]/g, '').slice(0, 20)).filter(Boolean)
  const ours = [STATELESS_VERSION, ...HANDSHAKE_VERSIONS].join(', ')
  return agentFailure(
    502,
    'UnsupportedVersion',
    `The server speaks MCP ${listed.slice(0, MAX_LISTED).join(', ') || 'in an unknown version'}; this directory speaks ${ours}`,
  )
}
