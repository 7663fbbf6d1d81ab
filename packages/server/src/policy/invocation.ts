import { DirectoryError } from '@switchboard/protocol'
import type { Marks } from '../store/store.js'
import { covers, type GrantsOf, type Visible } from './access.js'
import { type Caller, hasScope, isAdmin, matchesNames } from './caller.js'

/** An agent that the caller may see, with what decides whether it may be called. */
export interface Callable extends Visible {
  readonly status: string
  readonly stored: { readonly marks: Marks }
}

/** Statuses of agents that do not accept calls (C-21, 01 §5.2). Agents that are offline are still found. */
const OUT_OF_SERVICE = new Set(['inactive', 'suspended', 'offline'])
/** Retry-After in seconds for such an agent: its status rarely changes sooner. */
const RETRY_SECONDS = 60

/**
 * Throws `forbidden` unless the caller may call the agent (C-70, C-95). Every caller needs the `invoke` scope. An agent
 * that is not public needs its owner or a grant; one that the operator has marked unsafe needs an administrator.
 */
export function assertMayInvoke(agent: Callable, caller: Caller, grantsOf: GrantsOf): void {
  const { id } = agent.record
  const refuse = (reason: string): never => {
    throw new DirectoryError('forbidden', `the agent "${id}" may not be called: ${reason}`)
  }
  if (!hasScope(caller, 'invoke')) refuse('this needs the invoke scope')
  if (isAdmin(caller)) return
  if (caller.names && !matchesNames(caller.names, id))
    refuse(`this credential is limited to ${caller.names.join(', ')}`)
  if (!isEntitled(agent, caller, grantsOf)) refuse('it is restricted, and you have no grant for it')
  if (agent.stored.marks.unsafe === true) refuse('the operator of this directory has marked it unsafe')
}

/** Throws `unavailable` if the agent's status says that it is out of service. */
export function assertInService({ record, status }: Callable): void {
  if (!OUT_OF_SERVICE.has(status)) return
  throw new DirectoryError('unavailable', `the agent "${record.id}" is ${status}: try again later`, {
    retryAfter: RETRY_SECONDS,
  })
}

function isEntitled(agent: Callable, caller: Caller, grantsOf: GrantsOf): boolean {
  if (agent.record.visibility === 'public' || agent.owner === caller.subject) return true
  if (caller.subject === undefined) return false
  return grantsOf(caller.subject).some((grant) => grant.scopes.includes('invoke') && covers(grant, agent))
}
