import {
  type Delegation,
  type SeenTokens,
  SigningError,
  type VerificationKey,
  verifyDelegation,
} from '@switchboard/protocol'
import type { Call } from '../call/call.js'
import { AgentError } from '../errors.js'

export interface VerifyChainOptions {
  /** Calls without a chain are refused. */
  readonly required: boolean
  /** Names of this agent beside the URL that it is called at: a DID, an agent URI. */
  readonly identities: readonly string[]
  readonly keysOf: (issuer: string) => Promise<readonly VerificationKey[]>
  readonly seen: SeenTokens
  readonly now: () => number
}

/** The delegation that a call shows, verified; undefined if it shows none. */
export type VerifyChain = (call: Call) => Promise<Delegation | undefined>

/** A chain is never trusted in part, and never passed over: one that is wrong is a 403 (C-65). */
export function createVerifyChain({ required, identities, keysOf, seen, now }: VerifyChainOptions): VerifyChain {
  return async (call) => {
    const { delegationChain } = call
    if (delegationChain === undefined || delegationChain.trim() === '') {
      if (!required) return undefined
      throw new AgentError('permission_denied', 'this agent works for known principals only: send X-Delegation-Chain')
    }
    try {
      const own = [...namesOf(call), ...identities]
      const delegation = await verifyDelegation(delegationChain, { audience: own, keysOf, seen, now })
      // Names differ where an agent is called by another path: the chain alone cannot tell that it is the same one.
      const again = delegation.actors.find((actor) => own.includes(actor))
      if (again !== undefined) throw new SigningError('loop', 'this agent has handed the task on already')
      return delegation
    } catch (error) {
      if (!(error instanceof SigningError)) throw error
      const members = { reason: error.code }
      throw new AgentError('permission_denied', `X-Delegation-Chain is not accepted: ${error.message}`, {
        cause: error,
        members,
      })
    }
  }
}

/** What callers may take for this agent's name: the URL that they call, down to the capability. */
function namesOf({ base, version, capability }: Call): string[] {
  const name = capability.name.split('/').map(encodeURIComponent).join('/')
  return [base, `${base}/v${version}`].flatMap((place) => [place, `${place}/invoke`, `${place}/${name}`])
}
