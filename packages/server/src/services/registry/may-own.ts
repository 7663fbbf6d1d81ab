import { DirectoryError } from '@switchboard/protocol'
import { assertMayClaim } from '../../policy/access.js'
import { type Caller, isAdmin } from '../../policy/caller.js'
import type { Context } from '../context.js'

/** Throws `forbidden` if the agent may not become the owner's: a new one, or one that is handed over. */
export function assertMayOwn(context: Context, id: string, owner: string, caller: Caller): void {
  assertMayClaim(caller, id, context.policy)
  assertProvenDomain(context, id, owner, caller)
}

/** The operator may require that the owner has proven the domain that the id names. */
function assertProvenDomain({ domains, policy }: Context, id: string, owner: string, caller: Caller): void {
  if (!policy.requireDomainProof || isAdmin(caller)) return
  const name = domains.nameOf(id)
  // The domain itself needs no proof: agents that were found there belong to it.
  if (name === undefined || isOriginOf(owner, name) || domains.proofOf({ id, owner })) return
  throw new DirectoryError(
    'forbidden',
    `the id "${id}" needs a proof that you control ${name}: POST /domains with {"domain":"${name}"} says how`,
  )
}

const isOriginOf = (owner: string, name: string): boolean => owner === `https://${name}` || owner === `http://${name}`
