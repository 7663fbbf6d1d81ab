import { type AgentCaller, type CallerOptions, type CallOptions, createCaller, resolveAgent } from '@switchboard/client'
import { delegate, type SigningKey } from '@switchboard/protocol'
import type { Runtime } from '../runtime.js'
import type { AdmittedCall } from './admit.js'
import type { HandlerContext } from './handler-context.js'

export interface OutgoingCallsOptions {
  readonly runtime: Runtime
  /** How other agents are found and called. */
  readonly options: CallerOptions
  /** Signs delegations; without a key calls carry no chain. */
  readonly key?: SigningKey
  /** The issuer of a new chain, if the call came without one. */
  readonly identity: (base: string) => string
}

/** Calls to other agents on behalf of a call in progress. */
export interface OutgoingCalls {
  within(
    admitted: AdmittedCall,
    signal: AbortSignal,
    onCall: (uri: string) => void,
  ): Pick<HandlerContext, 'call' | 'stream'>
  close(): Promise<void>
}

export function createOutgoingCalls({ runtime, options, key, identity }: OutgoingCallsOptions): OutgoingCalls {
  const { transports: _transports, ...resolverOptions } = options
  const resolving = { fetch: runtime.fetch, ...resolverOptions }
  let caller: AgentCaller | undefined
  const connect = (): AgentCaller => {
    caller ??= createCaller({ fetch: runtime.fetch, ...options })
    return caller
  }

  const chainFor =
    ({ call, delegation }: AdmittedCall, signingKey: SigningKey): Chain =>
    async ({ uri, url }) => {
      // Cached: the call itself resolves the same URI.
      const { capability } = await resolveAgent(uri, resolving)
      // The chain continues with the name that it has as audience.
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

/** Without the query, which may contain private input. */
const nameOf = (uri: string): string => uri.split(/[?#]/)[0] ?? uri

/**
 * The audience of a delegation: the URL that is really called, and never a name that the descriptor claims, which could
 * belong to another agent.
 */
export function audienceOf(url: string, capability: string | undefined): string {
  const bare = nameOf(url).replace(/^ws/, 'http')
  const path = capability?.split('/').map(encodeURIComponent).join('/')
  const base = path !== undefined && bare.endsWith(`/${path}`) ? bare.slice(0, -path.length) : bare
  return base.replace(/\/+$/, '')
}
