import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { Caller } from '../auth/caller.js'
import { AgentError } from '../errors.js'

/** What the executor needs to know about a request, passed through the SDK's call context. */
export interface A2aCaller {
  readonly caller: Caller
  readonly base: string
  readonly requestId: string
  readonly version: string | null
  readonly delegationChain: string | null
}

const callers = new WeakMap<ServerCallContext, A2aCaller>()

export const setCaller = (context: ServerCallContext, caller: A2aCaller): void => {
  callers.set(context, caller)
}

export function callerIn(context: ServerCallContext): A2aCaller {
  const caller = callers.get(context)
  if (!caller) throw new AgentError('internal_error', 'a message has no caller')
  return caller
}
