import { type AgentRecord, DirectoryError, invalid } from '@switchboard/protocol'
import type { CredentialsForAgent } from '../request/invocation.js'

/** Headers that show somebody to the agent, and whose they are. */
export interface AgentCredential {
  readonly headers: Readonly<Record<string, string>>
  /** The operator's, kept for this agent: if the agent refuses it, the caller is not to blame (C-97). */
  readonly isOurs: boolean
  /** The only origins that are shown it; undefined: whoever sent it trusts the agent wherever it is. */
  readonly origins?: ReadonlySet<string>
}

/** What the operator keeps for an agent, and where the agent was when it was set. */
export type KeptCredential = Required<Pick<AgentCredential, 'headers' | 'origins'>>

/**
 * The credential for the agent (C-96): what the caller sent for it, else what the operator keeps. Where the agent asks
 * for one and there is none, the call ends here.
 */
export function credentialFor(
  { id, authentication }: AgentRecord,
  given: CredentialsForAgent,
  kept: KeptCredential | undefined,
): AgentCredential {
  const type = authentication?.type
  const key = given.agentApiKey ?? (type === 'api_key' ? given.apiKey : undefined)
  assertNotOurs(given.ours, key, given.agentApiKey === undefined ? 'X-API-Key' : 'X-Agent-API-Key')
  assertNotOurs(given.ours, given.agentAuthorization, 'X-Agent-Authorization')
  const headers = {
    ...(key !== undefined && { 'x-api-key': key }),
    ...(given.agentAuthorization !== undefined && { authorization: given.agentAuthorization }),
  }
  if (Object.keys(headers).length === 0 && kept) return { ...kept, isOurs: true }
  if (type === 'api_key' && key === undefined)
    throw missing(id, 'an API key', 'X-API-Key beside "Authorization: Bearer …", or as X-Agent-API-Key', 'ApiKey')
  if (type === 'oauth2_bearer' && given.agentAuthorization === undefined)
    throw missing(id, 'a bearer token', 'X-Agent-Authorization: Bearer …', 'Bearer')
  return { headers, isOurs: false }
}

/** Whoever holds a caller's key for the directory can act as the caller: no agent gets to see it. */
function assertNotOurs(ours: string | undefined, value: string | undefined, name: string): void {
  if (ours === undefined || value === undefined || !value.includes(ours)) return
  throw invalid([
    { at: name, message: 'is your credential for this directory, which is never passed on: send the agent’s own' },
  ])
}

function missing(id: string, what: string, how: string, scheme: string): DirectoryError {
  return new DirectoryError('unauthorized', `the agent "${id}" asks for ${what} of its own: send it as ${how}`, {
    headers: { 'www-authenticate': `${scheme} realm="agent"` },
  })
}
