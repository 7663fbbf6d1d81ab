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
  /** Reject calls without a chain. */
  readonly required: boolean
  /** Names of this agent besides the URL that it is called at: a DID, an agent URI. */
  readonly identities: readonly string[]
  readonly keysOf: (issuer: string) => Promise<readonly VerificationKey[]>
  readonly seen: SeenTokens
  readonly now: () => number
}

/** Verifies the delegation chain of a call; undefined if it has none. */
export type VerifyChain = (call: Call) => Promise<Delegation | undefined>

/** An invalid chain is never trusted in part and never ignored: it is a 403 (C-65). */
export function createVerifyChain({ required, identities, keysOf, seen, now }: VerifyChainOptions): VerifyChain {
  return async (call) => {
    const { delegationChain } = call
    if (delegationChain === undefined || delegationChain.trim() === '') {
      if (!required) return undefined
      throw new AgentError('permission_denied', 'this agent requires a delegation: send X-Delegation-Chain')
    }
    try {
      const own = [...namesOf(call), ...identities]
      const delegation = await verifyDelegation(delegationChain, { audience: own, keysOf, seen, now })
      // An agent has several names, so the chain alone cannot show that it has already passed through here.
      const again = delegation.actors.find((actor) => own.includes(actor))
      if (again !== undefined) throw new SigningError('loop', 'the chain has already passed through this agent')
      return delegation
    } catch (error) {
      if (!(error instanceof SigningError)) throw error
      const members = { reason: error.code }
      throw new AgentError('permission_denied', `X-Delegation-Chain is invalid: ${error.message}`, {
        cause: error,
        members,
      })
    }
  }
}

/** The URLs that callers may use as the agent's name, down to the capability. */
function namesOf({ base, version, capability }: Call): string[] {
  const name = capability.name.split('/').map(encodeURIComponent).join('/')
  return [base, `${base}/v${version}`].flatMap((place) => [place, `${place}/invoke`, `${place}/${name}`])
}
