import { type AgentCaller, type CallerOptions, type CallOptions, createCaller, resolveAgent } from '@switchboard/client'
import { delegate, type SigningKey } from '@switchboard/protocol'
import type { Runtime } from '../runtime.js'
import type { AdmittedCall } from './admit.js'
import type { HandlerContext } from './handler-context.js'

export interface OnwardCallsOptions {
  readonly runtime: Runtime
  /** How other agents are found and called. */
  readonly outgoing: CallerOptions
  /** Signs hops; without it calls go on without a chain. */
  readonly key?: SigningKey
  /** Who starts a chain, where none was received. */
  readonly identity: (base: string) => string
}

/** Calls of other agents, made for a call that is under way. */
export interface OnwardCalls {
  within(
    admitted: AdmittedCall,
    signal: AbortSignal,
    onCall: (uri: string) => void,
  ): Pick<HandlerContext, 'call' | 'stream'>
  close(): Promise<void>
}

export function createOnwardCalls({ runtime, outgoing: options, key, identity }: OnwardCallsOptions): OnwardCalls {
  const { transports: _transports, ...ways } = options
  const resolving = { fetch: runtime.fetch, ...ways }
  let caller: AgentCaller | undefined
  const connect = (): AgentCaller => {
    caller ??= createCaller({ fetch: runtime.fetch, ...options })
    return caller
  }

  const chainFor =
    ({ call, delegation }: AdmittedCall, signingKey: SigningKey): Chain =>
    async ({ uri, url }) => {
      // From the same cache as the call itself.
      const { capability } = await resolveAgent(uri, resolving)
      // The next hop continues under the name that the last one was made out to.
      const issuer = delegation?.hops.at(-1)?.audience ?? identity(call.base)
      return delegate({
        ...(delegation && call.delegationChain !== undefined && { chain: call.delegationChain }),
        issuer,
        subject: call.caller.subject ?? issuer,
        audience: audienceOf(url, capability),
        key: signingKey,
        now: runtime.now,
        newId: runtime.newId,
      })
    }

  return {
    within(admitted, signal, onCall) {
      const { call } = admitted
      const optionsOf = (given: CallOptions): CallOptions => ({
        requestId: call.requestId,
        ...(call.taskId !== undefined && { taskId: call.taskId }),
        ...(key && { delegationChain: chainFor(admitted, key) }),
        ...given,
        signal: given.signal ? AbortSignal.any([signal, given.signal]) : signal,
      })
      return {
        call(uri, input, given = {}) {
          onCall(nameOf(uri))
          return connect().invoke(uri, input, optionsOf(given))
        },
        async *stream(uri, input, given = {}) {
          onCall(nameOf(uri))
          yield* connect().stream(uri, input, optionsOf(given))
        },
      }
    },
    async close() {
      await caller?.close()
    },
  }
}

type Chain = Exclude<NonNullable<CallOptions['delegationChain']>, string>

/** Inputs in a query are nobody else's business. */
const nameOf = (uri: string): string => uri.split(/[?#]/)[0] ?? uri

/**
 * The name that a hop is made out to: where the call really goes, and never what a descriptor says of itself, for that
 * could be somebody else's name.
 */
export function audienceOf(url: string, capability: string | undefined): string {
  const bare = nameOf(url).replace(/^ws/, 'http')
  const path = capability?.split('/').map(encodeURIComponent).join('/')
  const base = path !== undefined && bare.endsWith(`/${path}`) ? bare.slice(0, -path.length) : bare
  return base.replace(/\/+$/, '')
}
