import type { Delegation, PublisherSchemas } from '@switchboard/protocol'
import type { Caller } from '../auth/caller.js'
import type { VerifyChain } from '../delegation/verify-chain.js'
import { AgentError, invalidInput, toAgentError } from '../errors.js'
import { parseWith } from '../schema/read-schema.js'
import type { RecordCall } from './audit.js'
import type { Call } from './call.js'

/** A call that passed all checks. */
export interface AdmittedCall {
  readonly call: Call
  /** The input for the handler, as parsed by its schema. */
  readonly input: unknown
  readonly delegation?: Delegation
}

/** What the `allow` option decides on. */
export interface AccessRequest {
  readonly capability: string
  readonly caller: Caller
  readonly delegation?: Delegation
}

export interface AdmitDeps {
  readonly monotonic: () => number
  readonly schemas: PublisherSchemas
  readonly limitRate: (client: string) => void
  readonly verifyChain: VerifyChain
  readonly allow: (request: AccessRequest) => boolean | Promise<boolean>
  readonly recordCall: RecordCall
}

/** Checks a call before its handler runs, so that deferred calls are rejected at once too. */
export type Admit = (call: Call) => Promise<AdmittedCall>

export function createAdmit({ monotonic, schemas, limitRate, verifyChain, allow, recordCall }: AdmitDeps): Admit {
  const check = async (call: Call): Promise<AdmittedCall> => {
    const { capability, caller, input } = call
    limitRate(caller.client)
    const missing = (capability.scopes ?? []).filter((scope) => !caller.scopes.has(scope))
    if (missing.length > 0) {
      throw new AgentError(
        'permission_denied',
        `${capability.name} needs the scope${missing.length > 1 ? 's' : ''} ${missing.join(', ')}`,
      )
    }
    const { standard } = capability
    const parsed = standard.input
      ? await parseWith(standard.input, input)
      : { value: input, issues: schemas.check(capability.input, input) }
    if (parsed.issues.length > 0) throw invalidInput(parsed.issues)
    // After the other checks, because a chain can be used only once.
    const delegation = await verifyChain(call)
    const verified = delegation ? { delegation } : {}
    if (!(await allow({ capability: capability.name, caller, ...verified }))) {
      throw new AgentError('permission_denied', `this caller may not call ${capability.name}`)
    }
    return { call, input: parsed.value, ...verified }
  }
  return async (call) => {
    const startedAt = monotonic()
    try {
      return await check(call)
    } catch (error) {
      recordCall({ call }, startedAt, error)
      throw toAgentError(error)
    }
  }
}
