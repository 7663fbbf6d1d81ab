import type { AgentRecord } from '@switchboard/protocol'
import type { StoredGrant } from '../store/store.js'
import { type Caller, hasScope, isAdmin, matchesNames } from './caller.js'

/** What decides the visibility of an agent. */
export interface Visible {
  readonly record: AgentRecord
  /** The record without private members; the same object if it has none. */
  readonly shown: AgentRecord
  readonly owner: string
}

/** The current grants of a subject. */
export type GrantsOf = (subject: string) => readonly StoredGrant[]

/** Whether the caller may know that the agent exists (C-95); otherwise it is neither found nor counted. */
export function maySee(agent: Visible, caller: Caller, grantsOf: GrantsOf): boolean {
  if (agent.record.visibility !== 'private') return true
  if (maySeeAll(agent, caller)) return true
  return caller.subject !== undefined && grantsOf(caller.subject).some((grant) => covers(grant, agent))
}

/** Whether the caller may also see private members: owner, administrator or commissioning tool. */
function maySeeAll(agent: Visible, caller: Caller): boolean {
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
export function covers(grant: StoredGrant, { record, owner }: Visible): boolean {
  if (grant.agent) return grant.agent.id === record.id && grant.agent.owner === owner
  return grant.tag !== undefined && record.tags.includes(grant.tag)
}
