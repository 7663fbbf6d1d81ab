import type { Operation } from '@switchboard/protocol'
import type { AgentCall, Payload } from '../../gateway/call.js'
import type { Target } from './target.js'

/** A call about which everything is settled; it has only to be made. */
export interface ReadyCall {
  readonly target: Target
  readonly operation: Operation
  readonly payload: Payload
  /** For the agent, its credential among them. */
  readonly headers: Readonly<Record<string, string>>
  /** The credential is the operator's, not the caller's. */
  readonly ownCredential: boolean
  readonly repeatable: boolean
  readonly wantsStream: boolean
}

/** When and for whom it is made. */
export type Occasion = Pick<AgentCall, 'timeoutMs' | 'signal'>
