import type { Operation } from '@switchboard/protocol'
import type { AgentCall, Payload } from '../../../gateway/gateway.js'
import type { AgentCredential } from '../admission/agent-credential.js'
import type { Target } from '../admission/target.js'

/** A call about which everything is settled; it has only to be made. */
export interface ReadyCall {
  readonly target: Target
  readonly operation: Operation
  readonly payload: Payload
  /** For the agent, besides the credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly credential: AgentCredential
  /** Who calls; the agent is not told. */
  readonly caller: string
  readonly idempotent: boolean
  readonly wantsStream: boolean
}

/** When and for whom it is made. */
export type Occasion = Pick<AgentCall, 'timeoutMs' | 'signal'>
