import { DirectoryError } from '@switchboard/protocol'
import { type Caller, hasScope, isAdmin, matchesNames } from './caller.js'
import { mayCommission } from './visibility.js'

/** Who may claim which agent names (CONTRACT: `policy.names`, `policy.owners`). */
export interface NamePolicy {
  /** Names that only these subjects may register. */
  readonly names: readonly { readonly names: readonly string[]; readonly subjects: readonly string[] }[]
  /** Whose the agents are that a commissioning tool registers. */
  readonly owners: readonly { readonly names: readonly string[]; readonly subject: string }[]
}

/** Whether the caller may change an agent that this owner has. */
export function mayOperate(caller: Caller, agent: { id: string; owner: string }): boolean {
  if (isAdmin(caller)) return true
  if (mayCommission(caller, agent.id)) return true
  return hasScope(caller, 'publish') && agent.owner === caller.subject && isCovered(caller, agent.id)
}

/** Whether the name is among those that the credential is limited to, if it is. */
const isCovered = ({ names }: Caller, name: string): boolean => names === undefined || matchesNames(names, name)

/** Refuses a name that the credential is not for, be it taken or not. */
export function assertCovered(caller: Caller, name: string): void {
  if (isAdmin(caller) || isCovered(caller, name)) return
  throw new DirectoryError(
    'forbidden',
    `this credential is not for the name "${name}": it covers ${caller.names?.join(', ')}`,
  )
}

/** Refuses a name that the caller has no authority for (AD §7.1); first come, first remembered for the rest. */
export function assertMayClaim(caller: Caller, name: string, policy: NamePolicy): void {
  if (isAdmin(caller)) return
  const rules = policy.names.filter((rule) => matchesNames(rule.names, name))
  if (rules.length > 0 && !rules.some((rule) => rule.subjects.includes(caller.subject ?? ''))) {
    throw new DirectoryError('forbidden', `the name "${name}" is reserved by the operator of this directory`)
  }
}

/** Whose a new agent is: the caller's, or the one a commissioning tool acts for (C-43). */
export function ownerOfNew(caller: Caller, name: string, policy: NamePolicy, onBehalfOf?: string): string {
  if (onBehalfOf !== undefined) {
    if (!isAdmin(caller)) throw new DirectoryError('forbidden', 'only an administrator registers for another owner')
    return onBehalfOf
  }
  const mapped = mayCommission(caller, name) ? policy.owners.find((rule) => matchesNames(rule.names, name)) : undefined
  return mapped?.subject ?? caller.subject ?? 'anonymous'
}
