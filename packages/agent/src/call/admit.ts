import type { Delegation, PublisherSchemas } from '@switchboard/protocol'
import type { Caller } from '../auth/caller.js'
import type { VerifyChain } from '../delegation/verify-chain.js'
import { AgentError, invalidInput, toAgentError } from '../errors.js'
import { parseWith } from '../schema/read-schema.js'
import type { NoteEnd } from './audit.js'
import type { Call } from './call.js'

/** A call that may be made: the caller has the right, the input fits. */
export interface AdmittedCall {
  readonly call: Call
  /** As the handler takes it: what the input schema made of the call's input. */
  readonly input: unknown
  readonly delegation?: Delegation
}

/** What is known of a call when it is decided whether it may be made. */
export interface AccessRequest {
  readonly capability: string
  readonly caller: Caller
  readonly delegation?: Delegation
}

export interface AdmitDeps {
  readonly now: () => number
  readonly schemas: PublisherSchemas
  readonly limitRate: (client: string) => void
  readonly verifyChain: VerifyChain
  readonly allow: (request: AccessRequest) => boolean | Promise<boolean>
  readonly note: NoteEnd
}

/** Checks that cost nothing of the handler's time; what they refuse is told at once, for deferred calls too. */
export type Admit = (call: Call) => Promise<AdmittedCall>

export function createAdmit({ now, schemas, limitRate, verifyChain, allow, note }: AdmitDeps): Admit {
  const check = async (call: Call): Promise<AdmittedCall> => {
    const { capability, caller, input } = call
    limitRate(caller.client)
    const missing = (capability.scopes ?? []).filter((scope) => !caller.scopes.has(scope))
    if (missing.length > 0) {
      throw new AgentError('permission_denied', `${capability.name} needs the scope ${missing.join(', ')}`)
    }
    const { standard } = capability
    const parsed = standard.input
      ? await parseWith(standard.input, input)
      : { value: input, issues: schemas.check(capability.input, input) }
    if (parsed.issues.length > 0) throw invalidInput(parsed.issues)
    // Last but one, because a chain that was shown is used up.
    const delegation = await verifyChain(call)
    const shown = delegation ? { delegation } : {}
    if (!(await allow({ capability: capability.name, caller, ...shown }))) {
      throw new AgentError('permission_denied', `${capability.name} is not open to this caller`)
    }
    return { call, input: parsed.value, ...shown }
  }
  return async (call) => {
    const startedAt = now()
    try {
      return await check(call)
    } catch (error) {
      note({ call }, startedAt, error)
      throw toAgentError(error)
    }
  }
}
