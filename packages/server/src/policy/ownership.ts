import { DirectoryError } from '@switchboard/protocol'
import { type Caller, hasScope, isAdmin, matchesNames } from './caller.js'
import { mayCommission } from './visibility.js'

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
