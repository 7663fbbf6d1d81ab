import type { AgentRecord } from '@switchboard/protocol'
import type { StoredGrant } from '../store/store.js'
import { type Caller, hasScope, isAdmin, matchesNames } from './caller.js'

/** What visibility is decided on. */
export interface Visible {
  readonly record: AgentRecord
  /** The record without what only its owner sees; the same object if nothing is private in it. */
  readonly shown: AgentRecord
  readonly owner: string
}

/** Grants by subject; kept in step with the store. */
export type GrantsOf = (subject: string) => readonly StoredGrant[]

/** Whether the caller may know of the agent (C-95): hidden means not found, not counted, not hinted at. */
export function maySee(agent: Visible, caller: Caller, grantsOf: GrantsOf): boolean {
  if (agent.record.visibility !== 'private') return true
  if (maySeeAll(agent, caller)) return true
  return caller.subject !== undefined && grantsOf(caller.subject).some((grant) => covers(grant, agent))
}

/** Owner, administrator and commissioning tool see what is private inside the record too. */
function maySeeAll(agent: Visible, caller: Caller): boolean {
  if (caller.kind === 'anonymous') return false
  return isAdmin(caller) || agent.owner === caller.subject || mayCommission(caller, agent.record.id)
}

/** A commissioning tool acts for the agents whose names its credential lists (C-43). */
export const mayCommission = (caller: Caller, name: string): boolean =>
  hasScope(caller, 'ct') && caller.names !== undefined && matchesNames(caller.names, name)

/** The record as the caller sees it, or undefined where there is nothing to see. */
export function viewOf(agent: Visible, caller: Caller, grantsOf: GrantsOf): AgentRecord | undefined {
  // The commonest agent keeps nothing from anybody: a lookup passes thousands of them.
  if (agent.shown === agent.record && agent.record.visibility !== 'private') return agent.record
  if (maySeeAll(agent, caller)) return agent.record
  return maySee(agent, caller, grantsOf) ? agent.shown : undefined
}

/** A grant names an agent as its owner had it then, or a tag; either scope lets the agent be seen. */
export function covers(grant: StoredGrant, { record, owner }: Visible): boolean {
  if (grant.agent) return grant.agent.id === record.id && grant.agent.owner === owner
  return grant.tag !== undefined && record.tags.includes(grant.tag)
}
