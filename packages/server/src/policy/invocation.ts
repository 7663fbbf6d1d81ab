import { DirectoryError } from '@switchboard/protocol'
import type { Marks } from '../store/store.js'
import { type Caller, hasScope, isAdmin, matchesNames } from './caller.js'
import { covers, type GrantsOf, type Visible } from './visibility.js'

/** What the right to call is decided on; that the caller may see the agent is settled. */
export interface Callable extends Visible {
  readonly status: string
  readonly stored: { readonly marks: Marks }
}

/** Status words that mean: not now (C-21, 01 §5.2). */
const RESTING = new Set(['inactive', 'suspended', 'offline'])
/** Seconds; such a word is not taken back within less. */
const REST_SECONDS = 60

/**
 * Refuses calls that the caller has no right to (C-70, C-95): everyone needs the scope; what is not public is called by
 * its owner or with a grant. What the operator holds unsafe is called by administrators only.
 */
export function assertMayInvoke(agent: Callable, caller: Caller, grantsOf: GrantsOf): void {
  const { id } = agent.record
  const refuse = (reason: string): never => {
    throw new DirectoryError('forbidden', `the agent "${id}" may not be called: ${reason}`)
  }
  if (!hasScope(caller, 'invoke')) refuse('this takes the scope invoke')
  if (isAdmin(caller)) return
  if (caller.names && !matchesNames(caller.names, id)) refuse(`this credential covers ${caller.names.join(', ')}`)
  if (!isEntitled(agent, caller, grantsOf)) refuse('it is restricted, and no grant names you')
  if (agent.stored.marks.unsafe === true) refuse('the operator of this directory holds it unsafe')
}

/** Refuses calls of an agent that is out of service. */
export function assertInService({ record, status }: Callable): void {
  if (!RESTING.has(status)) return
  throw new DirectoryError('unavailable', `the agent "${record.id}" is ${status}: try again later`, {
    retryAfter: REST_SECONDS,
  })
}

function isEntitled(agent: Callable, caller: Caller, grantsOf: GrantsOf): boolean {
  if (agent.record.visibility === 'public' || agent.owner === caller.subject) return true
  if (caller.subject === undefined) return false
  return grantsOf(caller.subject).some((grant) => grant.scopes.includes('invoke') && covers(grant, agent))
}
