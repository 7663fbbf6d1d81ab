import { asStrings, DirectoryError, isObject, type JsonValue } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { StoredCredential } from '../../store/secret-store.js'
import { auditOf, type Context } from '../context.js'
import type { Seal } from '../identity/seal.js'
import type { Agent } from '../registry/catalog.js'
import { unknownAgent } from '../registry/read.js'
import type { KeptCredential } from './admission/agent-credential.js'
import { originsOf } from './admission/target.js'

/** What the gateway shows an agent of itself, filled by the operator (C-96). */
export type Credential =
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'api_key'; readonly key: string; readonly header: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }

/** What may be told of a credential. */
export interface CredentialFacts {
  readonly agent: string
  readonly type: Credential['type']
  /** Where the agent was when it was set: no other address is shown it. */
  readonly origins: readonly string[]
  /** Milliseconds. */
  readonly setAt: number
}

/** Agents' credentials: encrypted in the store, never told, never another owner's, and bound to where the agent was. */
export interface Credentials {
  /** The headers that let the gateway in at this agent, if the operator has set any, and where they may go. */
  of(agent: Agent): KeptCredential | undefined
  /** Throws where the agent is unknown. */
  facts(id: string): CredentialFacts | undefined
  set(id: string, credential: Credential, caller: Caller): Promise<CredentialFacts>
  remove(id: string, caller: Caller): Promise<void>
  /** Forgets what was set for an earlier owner's agent of that name. */
  meet(agent: Agent): void
  reload(): Promise<void>
}

interface Opened extends KeptCredential {
  readonly owner: string
  readonly type: Credential['type']
  readonly setAt: number
}

export interface CredentialsOptions {
  readonly context: Context
  /** Undefined: the operator has given no secret to keep others by. */
  readonly seal: Seal | undefined
  /** Told of a credential that cannot be opened: the secret is another one than it was set with. */
  readonly onUnreadable: (agent: string) => void
}

export async function createCredentials(options: CredentialsOptions): Promise<Credentials> {
  const { context, seal, onUnreadable } = options
  const { store, catalog } = context
  let byAgent = new Map<string, Opened>()

  const open = ({ agent, owner, secret, at }: StoredCredential): [string, Opened][] => {
    const text = seal?.open(secret, aboutOf(agent, owner))
    const value: JsonValue | undefined = text === undefined ? undefined : JSON.parse(text)
    const credential = readCredential(value)
    if (credential) return [[agent, toOpened(credential, owner, originsIn(value), at)]]
    onUnreadable(agent)
    return []
  }
  const reload = async (): Promise<void> => {
    byAgent = new Map((await store.secrets.credentials()).flatMap(open))
  }
  await reload()

  /** The credential of the agent that has this name now, and not of an earlier one. */
  const current = (agent: Agent): Opened | undefined => {
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
    meet({ record: { id }, owner }) {
      if (byAgent.has(id) && byAgent.get(id)?.owner !== owner) byAgent.delete(id)
    },
    of: current,
    facts(id) {
      const found = current(known(id))
      return found && toFacts(id, found)
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
      const secret = seal.close(JSON.stringify({ ...credential, origins }), aboutOf(id, owner))
      const audit = auditOf(caller, 'credential.set', at, { agent: id, detail: credential.type })
      await store.secrets.putCredential({ agent: id, owner, secret, at }, audit)
      const opened = toOpened(credential, owner, origins, at)
      byAgent.set(id, opened)
      return toFacts(id, opened)
    },
    async remove(id, caller) {
      known(id)
      const audit = auditOf(caller, 'credential.remove', context.now(), { agent: id })
      const found = await store.secrets.deleteCredential(id, audit)
      byAgent.delete(id)
      if (!found) throw new DirectoryError('not_found', `no credential is set for the agent "${id}"`)
    },
  }
}

/** A sealed credential opens only as what it was set for: moving rows about in the database does not help. */
const aboutOf = (agent: string, owner: string): string => `credential ${JSON.stringify([agent, owner])}`

const toOpened = (credential: Credential, owner: string, origins: readonly string[], setAt: number): Opened => ({
  owner,
  type: credential.type,
  headers: headersOf(credential),
  origins: new Set(origins),
  setAt,
})

const toFacts = (agent: string, { type, origins, setAt }: Opened): CredentialFacts => ({
  agent,
  type,
  origins: [...origins],
  setAt,
})

const originsIn = (value: JsonValue | undefined): string[] => (isObject(value) ? asStrings(value.origins) : [])

/** Undefined where it is none of those we write. */
function readCredential(value: JsonValue | undefined): Credential | undefined {
  if (!isObject(value)) return undefined
  const { type, token, key, header, username, password } = value
  if (type === 'bearer' && typeof token === 'string') return { type, token }
  if (type === 'api_key' && typeof key === 'string' && typeof header === 'string') return { type, key, header }
  if (type === 'basic' && typeof username === 'string' && typeof password === 'string')
    return { type, username, password }
  return undefined
}

function headersOf(credential: Credential): Record<string, string> {
  switch (credential.type) {
    case 'bearer':
      return { authorization: `Bearer ${credential.token}` }
    case 'api_key':
      return { [credential.header.toLowerCase()]: credential.key }
    case 'basic': {
      const pair = Buffer.from(`${credential.username}:${credential.password}`).toString('base64')
      return { authorization: `Basic ${pair}` }
    }
  }
}
