import type { Gateway } from '../../gateway/gateway.js'
import type { Context } from '../context.js'
import type { Budgets } from '../operations/budgets.js'
import type { Agent } from '../registry/catalog.js'
import type { Tasks } from '../tasks/tasks.js'
import type { StoredCredential } from './admission/choose-credential.js'
import type { LearnOperations } from './admission/learn-operations.js'
import type { ResultQuota } from './sending/result-quota.js'

/** What the steps of a call work with. */
export interface CallDeps {
  readonly context: Context
  readonly gateway: Gateway
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: () => number
  /** Milliseconds for a whole call, or a whole batch. */
  readonly timeoutMs: number
  /** Most JSON values in the response of an agent. */
  readonly maxResponseValues: number
  /** Output that does not match its schema is an error; otherwise it is only marked (C-67). */
  readonly strictOutputs: boolean
  /** Calls per day. */
  readonly budgets: Pick<Budgets, 'spend'>
  /** Bytes of results that are stored for Idempotency-Keys. */
  readonly resultQuota: ResultQuota
  /** Undefined: calls cannot be deferred, because there is no secret to encrypt them with. */
  readonly tasks: Tasks | undefined
  /** The operations that a call can be for; those of A2A and MCP agents come from the agent itself. */
  readonly learnOperations: LearnOperations
  /** The operator's credential for an agent. */
  readonly storedCredential: (agent: Agent) => StoredCredential | undefined
}
