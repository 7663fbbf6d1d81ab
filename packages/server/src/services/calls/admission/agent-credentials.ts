import { asStrings, DirectoryError, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { Caller } from '../../../policy/caller.js'
import type { StoredCredential as CredentialRow } from '../../../store/secret-store.js'
import { auditOf, type Context } from '../../context.js'
import type { Seal } from '../../identity/seal.js'
import type { Agent } from '../../registry/catalog.js'
import { unknownAgent } from '../../registry/read.js'
import type { AgentTokens, TokenFailure } from './agent-tokens.js'
import type { StoredCredential } from './choose-credential.js'
import { type Credential, headersOf, isTokenCredential, readCredential, showTarget } from './credential.js'
import { originsOf } from './endpoints.js'

/** What may be shown of a credential: not its secret. */
export interface CredentialFacts {
  readonly agent: string
  readonly type: Credential['type']
  /** Origins of the agent when the credential was set; it is sent nowhere else. */
  readonly origins: readonly string[]
  /** Milliseconds. */
  readonly setAt: number
  /** Where its tokens come from, and what they are for. */
  readonly target?: JsonObject
  /** Why the last request for a token failed. */
  readonly lastFailure?: TokenFailure
}

/** Credentials for agents: encrypted in the store, never shown, and bound to the agent's owner and origins. */
export interface AgentCredentials {
  /** The credential of this agent, if the operator has set one. */
  of(agent: Agent): StoredCredential | undefined
  /** Throws `not_found` if the agent is unknown. */
  facts(id: string): CredentialFacts | undefined
  set(id: string, credential: Credential, caller: Caller): Promise<CredentialFacts>
  remove(id: string, caller: Caller): Promise<void>
  /** Drops a credential that was set for an earlier owner's agent of the same name. */
  dropEarlier(agent: Agent): void
  reload(): Promise<void>
}

interface OpenedCredential {
  readonly owner: string
  readonly credential: Credential
  readonly origins: ReadonlySet<string>
  readonly setAt: number
}

export interface AgentCredentialsOptions {
  readonly context: Context
  /** Undefined: the operator has configured no secret to encrypt with. */
  readonly seal: Seal | undefined
  /** Called for a credential that cannot be decrypted, because it was set with a different secret. */
  readonly onUnreadable: (agent: string) => void
  readonly tokens: AgentTokens
}

export async function createAgentCredentials(options: AgentCredentialsOptions): Promise<AgentCredentials> {
  const { context, seal, onUnreadable, tokens } = options
  const { store, catalog } = context
  let byAgent = new Map<string, OpenedCredential>()

  const open = ({ agent, owner, secret, at }: CredentialRow): [string, OpenedCredential][] => {
    const text = seal?.open(secret, bindingOf(agent, owner))
    const value: JsonValue | undefined = text === undefined ? undefined : JSON.parse(text)
    const { origins, ...body } = isObject(value) ? value : {}
    const credential = readCredential(body)
    if (credential) return [[agent, { credential, owner, origins: new Set(asStrings(origins)), setAt: at }]]
    onUnreadable(agent)
    return []
  }
  const reload = async (): Promise<void> => {
    byAgent = new Map((await store.secrets.credentials()).flatMap(open))
  }
  await reload()

  /** The credential set for this owner's agent, not for an earlier one of the same name. */
  const current = (agent: Agent): OpenedCredential | undefined => {
    const found = byAgent.get(agent.record.id)
    return found?.owner === agent.owner ? found : undefined
  }
  const known = (id: string): Agent => {
    const agent = catalog.get(id)
    if (!agent) throw unknownAgent(id)
    return agent
  }

  return {
    reload,
    dropEarlier({ record: { id }, owner }) {
      if (byAgent.has(id) && byAgent.get(id)?.owner !== owner) byAgent.delete(id)
    },
    of(agent) {
      const found = current(agent)
      return found && toStored(tokens, agent.record.id, found)
    },
    facts(id) {
      const found = current(known(id))
      return found && toFacts(id, found, tokens.lastFailure(id))
    },
    async set(id, credential, caller) {
      const agent = known(id)
      const { owner } = agent
      if (!seal) {
        throw new DirectoryError(
          'conflict',
          'this directory has no secret to encrypt credentials with: its operator must set SWITCHBOARD_SECRET',
        )
      }
      const at = context.now()
      const origins = originsOf(agent, () => catalog.facts(agent).baseUrl)
      const secret = seal.close(JSON.stringify({ ...credential, origins }), bindingOf(id, owner))
      const opened = { credential, owner, origins: new Set(origins), setAt: at }
      const before = current(agent)
      const audit = auditOf(caller, 'credential.set', at, {
        agent: id,
        detail: credential.type,
        ...(before && { before: stateOf(before) }),
        after: stateOf(opened),
      })
      await store.secrets.putCredential({ agent: id, owner, secret, at }, audit)
      byAgent.set(id, opened)
      tokens.forgetFailure(id)
      return toFacts(id, opened, undefined)
    },
    async remove(id, caller) {
      const before = current(known(id))
      const about = { agent: id, ...(before && { before: stateOf(before) }) }
      const audit = auditOf(caller, 'credential.remove', context.now(), about)
      const found = await store.secrets.deleteCredential(id, audit)
      byAgent.delete(id)
      if (!found) throw new DirectoryError('not_found', `no credential is set for the agent "${id}"`)
    },
  }
}

/** Binds the encrypted credential to its agent and owner, so that moving rows in the database does not help an attacker. */
const bindingOf = (agent: string, owner: string): string => `credential ${JSON.stringify([agent, owner])}`

function toStored(tokens: AgentTokens, agent: string, { credential, origins }: OpenedCredential): StoredCredential {
  if (isTokenCredential(credential))
    return { obtain: async (subjectToken) => ({ ...(await tokens.obtain(agent, credential, subjectToken)), origins }) }
  const fixed = { headers: headersOf(credential), isStored: true, origins }
  return { obtain: async () => fixed }
}

const toFacts = (
  agent: string,
  { credential, origins, setAt }: OpenedCredential,
  lastFailure: TokenFailure | undefined,
): CredentialFacts => ({
  agent,
  type: credential.type,
  origins: [...origins],
  setAt,
  ...(isTokenCredential(credential) && { target: showTarget(credential) }),
  ...(lastFailure && { lastFailure }),
})

/** What the audit log keeps of a credential. */
const stateOf = ({ credential, setAt }: OpenedCredential): JsonObject => ({
  type: credential.type,
  set_at: new Date(setAt).toISOString(),
})
