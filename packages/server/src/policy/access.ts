import type { AgentRecord } from '@switchboard/protocol'
import { DirectoryError } from '@switchboard/protocol'
import type { StoredGrant } from '../store/store.js'
import { type Caller, hasScope, isAdmin, matchesNames } from './caller.js'

/** What decides the visibility of an agent. */
export interface Visible {
  readonly record: AgentRecord
  /** The record without private members; the same object if it has none. */
  readonly shown: AgentRecord
  readonly owner: string
}

/** The part of it that decides who may know that the agent exists. */
export interface Known {
  readonly record: Pick<AgentRecord, 'id' | 'visibility' | 'tags'>
  readonly owner: string
}

/** The current grants of a subject. */
export type GrantsOf = (subject: string) => readonly StoredGrant[]

/** Whether the caller may know that the agent exists (C-95); otherwise it is neither found nor counted. */
export function maySee(agent: Known, caller: Caller, grantsOf: GrantsOf): boolean {
  if (agent.record.visibility !== 'private') return true
  if (maySeeAll(agent, caller)) return true
  return caller.subject !== undefined && grantsOf(caller.subject).some((grant) => covers(grant, agent))
}

/** Whether the caller may also see private members: owner, administrator or commissioning tool. */
function maySeeAll(agent: Known, caller: Caller): boolean {
  if (caller.kind === 'anonymous') return false
  return isAdmin(caller) || agent.owner === caller.subject || mayCommission(caller, agent.record.id)
}

/** Whether the caller is a commissioning tool whose credential lists the name (C-43). */
export const mayCommission = (caller: Caller, name: string): boolean =>
  hasScope(caller, 'ct') && caller.names !== undefined && matchesNames(caller.names, name)

/** The record as the caller may see it; undefined if the agent is hidden. */
export function viewOf(agent: Visible, caller: Caller, grantsOf: GrantsOf): AgentRecord | undefined {
  // Fast path for agents without anything private: a lookup passes thousands of them.
  if (agent.shown === agent.record && agent.record.visibility !== 'private') return agent.record
  if (maySeeAll(agent, caller)) return agent.record
  return maySee(agent, caller, grantsOf) ? agent.shown : undefined
}

/** Whether the grant covers the agent: by id and the owner at that time, or by tag. Any scope makes it visible. */
export function covers(grant: StoredGrant, { record, owner }: Known): boolean {
  if (grant.agent) return grant.agent.id === record.id && grant.agent.owner === owner
  return grant.tag !== undefined && record.tags.includes(grant.tag)
}

/** Who may claim which agent names (CONTRACT: `policy.names`, `policy.owners`). */
export interface NamePolicy {
  /** Names that only the given subjects may register. */
  readonly names: readonly { readonly names: readonly string[]; readonly subjects: readonly string[] }[]
  /** Owners of the agents that a commissioning tool registers. */
  readonly owners: readonly { readonly names: readonly string[]; readonly subject: string }[]
}

/** Whether the caller may change the agent. */
export function mayOperate(caller: Caller, agent: { id: string; owner: string }): boolean {
  if (isAdmin(caller)) return true
  if (mayCommission(caller, agent.id)) return true
  return hasScope(caller, 'publish') && agent.owner === caller.subject && isCovered(caller, agent.id)
}

/** Whether the credential is valid for the name; most are not limited to certain names. */
const isCovered = ({ names }: Caller, name: string): boolean => names === undefined || matchesNames(names, name)

/** Throws `forbidden` if the credential is limited to other names, whether or not the name is taken. */
export function assertCovered(caller: Caller, name: string): void {
  if (isAdmin(caller) || isCovered(caller, name)) return
  throw new DirectoryError(
    'forbidden',
    `this credential does not cover the name "${name}": it is limited to ${caller.names?.join(', ')}`,
  )
}

/** Throws `forbidden` if the operator has reserved the name for others (AD §7.1); other names are first come, first served. */
export function assertMayClaim(caller: Caller, name: string, policy: NamePolicy): void {
  if (isAdmin(caller)) return
  const rules = policy.names.filter((rule) => matchesNames(rule.names, name))
  if (rules.length > 0 && !rules.some((rule) => rule.subjects.includes(caller.subject ?? ''))) {
    throw new DirectoryError('forbidden', `the name "${name}" is reserved by the operator of this directory`)
  }
}

/** Owner of a new agent: the caller, or the subject that a commissioning tool acts for (C-43). */
export function ownerOfNew(caller: Caller, name: string, policy: NamePolicy, onBehalfOf?: string): string {
  if (onBehalfOf !== undefined) {
    if (!isAdmin(caller))
      throw new DirectoryError('forbidden', 'only an administrator may register an agent for another owner')
    return onBehalfOf
  }
  const mapped = mayCommission(caller, name) ? policy.owners.find((rule) => matchesNames(rule.names, name)) : undefined
  return mapped?.subject ?? caller.subject ?? 'anonymous'
}
