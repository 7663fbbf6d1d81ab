import type { ResolverOptions } from '../resolve/options.js'
import type { CallLimits } from '../transports/call.js'
import type { Credentials } from '../transports/credential.js'
import type { Identifiers } from '../transports/identifiers.js'
import type { TransportOptions, Transports } from '../transports/transports.js'
import type { InteractionModels } from './interaction-model.js'

/** Options of a caller: how it resolves and calls agents. */
export interface CallerOptions extends Omit<ResolverOptions, 'transports' | 'timeoutMs'>, TransportOptions {
  /** Milliseconds to resolve an agent's URI; default: 10 s. */
  readonly resolveTimeoutMs?: number
  /** Shared transports, which you close yourself; default: the caller creates its own. */
  readonly transports?: Transports
  /** For agents that need credentials: one, or a function that chooses. */
  readonly credentials?: Credentials
  /** Message formats that agents may require. */
  readonly models?: InteractionModels
}

/** Options of a single call. */
export interface CallOptions extends Omit<Identifiers, 'delegationChain'>, Partial<CallLimits> {
  readonly signal?: AbortSignal
  /** The value of X-Delegation-Chain, or a function that signs the next hop when the agent is known (C-65). */
  readonly delegationChain?: string | ((hop: { readonly uri: string; readonly url: string }) => Promise<string>)
  /** Accepted media types, most preferred first; default: JSON. */
  readonly accept?: string | readonly string[]
  /** Media type of an input that is not JSON. */
  readonly contentType?: string
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** Lets the agent respond later; the client polls until the response is ready (C-62). */
  readonly respondAsync?: boolean
  /** Check the input against the capability's schema before it is sent; default: true. */
  readonly checkInput?: boolean
}

export type InvokeOptions = CallerOptions & CallOptions
