import type { ResolverOptions } from '../resolve/options.js'
import type { CallLimits } from '../transports/call.js'
import type { Credentials } from '../transports/credential.js'
import type { Identifiers } from '../transports/identifiers.js'
import type { TransportOptions, Transports } from '../transports/transports.js'
import type { InteractionModels } from './interaction-model.js'

/** How agents are found and called. */
export interface CallerOptions extends Omit<ResolverOptions, 'transports' | 'timeoutMs'>, TransportOptions {
  /** Milliseconds for finding out where an agent is; 10 seconds unless told. */
  readonly resolveTimeoutMs?: number
  /** Transports made elsewhere, and closed there; by default the caller has its own. */
  readonly transports?: Transports
  /** For agents that ask who is calling. */
  readonly credentials?: Credentials
  /** Messages of models that agents ask for. */
  readonly models?: InteractionModels
}

/** What may differ from one call to the next. */
export interface CallOptions extends Omit<Identifiers, 'delegationChain'>, Partial<CallLimits> {
  readonly signal?: AbortSignal
  /** The value of X-Delegation-Chain, or what signs the next hop once it is known who is called (C-65). */
  readonly delegationChain?: string | ((hop: { readonly uri: string; readonly url: string }) => Promise<string>)
  /** Media types that are taken, most wanted first; JSON unless told. */
  readonly accept?: string | readonly string[]
  /** Of an input that is no JSON. */
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The agent may take the work on and answer later; that answer is waited for (C-62). */
  readonly respondAsync?: boolean
  /** False: the input is not checked against the capability's schema before it is sent. */
  readonly checkInput?: boolean
}

export type InvokeOptions = CallerOptions & CallOptions
