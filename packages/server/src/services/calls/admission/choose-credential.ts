import { type AgentRecord, DirectoryError, invalid } from '@switchboard/protocol'
import type { Caller } from '../../../policy/caller.js'
import type { CredentialsForAgent } from '../request/invocation.js'
import { readVariables } from './remote-inputs.js'

/** Headers that authenticate a call to the agent. */
export interface AgentCredential {
  readonly headers: Readonly<Record<string, string>>
  /** Stored by the operator: if the agent rejects it, the caller is not at fault (C-97). */
  readonly isStored: boolean
  /** The only origins that may receive it; undefined: any, because the caller sent it for this agent. */
  readonly origins?: ReadonlySet<string>
  /** Issued in exchange for the caller's token, so it cannot be obtained again when a deferred call is sent. */
  readonly isExchanged?: boolean
  /** Values of the caller for variables and headers that the agent's endpoints ask for. */
  readonly variables?: Readonly<Record<string, string>>
  /** Called when the agent rejects it with 401. */
  readonly onRejected?: () => void
}

/** The operator's credential for an agent. */
export interface StoredCredential {
  /**
   * The credential for one call, bound to the origins that the agent had when the operator set it. Throws if it cannot
   * be obtained: an agent is never called without it.
   *
   * @param subjectToken the token with which the caller authenticated to the directory, if it did
   */
  obtain(subjectToken: string | undefined): Promise<AgentCredential>
}

/**
 * The credential for the agent (C-96): the caller's, or else the operator's. Throws `unauthorized` if the agent requires
 * one and there is none, before the agent is called.
 */
export function chooseCredential(
  record: AgentRecord,
  caller: Pick<Caller, 'kind'>,
  sent: CredentialsForAgent,
  stored: StoredCredential | undefined,
): AgentCredential | Promise<AgentCredential> {
  const { directorySecret, agentApiKey, agentAuthorization } = sent
  const type = record.authentication?.type
  const missing = (what: string, how: string): DirectoryError =>
    new DirectoryError('unauthorized', `the agent "${record.id}" requires ${what}: send it as ${how}`, {
      headers: { 'www-authenticate': challengeOf(record) },
    })
  const key = agentApiKey ?? (type === 'api_key' ? sent.apiKey : undefined)
  assertNotForDirectory(directorySecret, key, agentApiKey === undefined ? 'X-API-Key' : 'X-Agent-API-Key')
  assertNotForDirectory(directorySecret, agentAuthorization, 'X-Agent-Authorization')
  const variables = readVariables(sent.agentVariables)
  if (variables)
    for (const value of Object.values(variables)) assertNotForDirectory(directorySecret, value, 'X-Agent-Variables')
  const isMissing = key === undefined && agentAuthorization === undefined
  if (isMissing && stored)
    return stored
      .obtain(caller.kind === 'token' ? directorySecret : undefined)
      .then((credential) => ({ ...credential, ...(variables && { variables }) }))
  if (type === 'api_key' && key === undefined)
    throw missing('an API key', 'X-API-Key beside "Authorization: Bearer …", or as X-Agent-API-Key')
  if (type === 'oauth2_bearer' && agentAuthorization === undefined)
    throw missing('a bearer token', 'X-Agent-Authorization: Bearer …')
  if (isMissing && !variables) return NO_CREDENTIAL
  const headers = {
    ...(key !== undefined && { 'x-api-key': key }),
    ...(agentAuthorization !== undefined && { authorization: agentAuthorization }),
  }
  return { headers, isStored: false, ...(variables && { variables }) }
}

const NO_CREDENTIAL: AgentCredential = { headers: {}, isStored: false }

/**
 * The credential for the gateway of the agent's origin: the operator's, or none. Callers' credentials for the agent are
 * not meant for that directory, and it would take them for its own.
 */
export async function credentialAtOrigin(
  { agentApiKey, agentAuthorization, agentVariables }: CredentialsForAgent,
  stored: StoredCredential | undefined,
): Promise<AgentCredential> {
  const sent =
    agentApiKey !== undefined
      ? 'X-Agent-API-Key'
      : (agentAuthorization && 'X-Agent-Authorization') || (agentVariables && 'X-Agent-Variables')
  if (sent)
    throw invalid([
      {
        at: sent,
        message:
          'is not passed on: the agent is called through the directory where it is registered; call it there instead',
      },
    ])
  return (await stored?.obtain(undefined)) ?? NO_CREDENTIAL
}

/** A caller's secret for the directory lets its holder act as the caller, so no agent may receive it. */
function assertNotForDirectory(secret: string | undefined, value: string | undefined, header: string): void {
  if (secret === undefined || value === undefined || !value.includes(secret)) return
  throw invalid([
    {
      at: header,
      message: 'contains your credential for this directory, which is never forwarded: send the agent’s own credential',
    },
  ])
}

/** The challenge of a 401 about the agent's credential. The agent's own would be taken for the directory's. */
export const challengeOf = ({ authentication }: Pick<AgentRecord, 'authentication'>): string =>
  `${authentication?.type === 'api_key' ? 'ApiKey' : 'Bearer'} realm="agent"`
