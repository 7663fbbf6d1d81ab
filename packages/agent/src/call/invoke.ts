import type { Task } from '../tasks/task.js'
import type { Tasks } from '../tasks/tasks.js'
import type { Call, Outcome, Value } from './call.js'
import { createIdempotentRunner } from './idempotency.js'
import type { Performer } from './perform.js'

/** The result of a call, or the task that will produce it. */
export type Invoked = (Outcome | { readonly kind: 'task'; readonly task: Task }) & { readonly isReplay?: boolean }

/** Results that can be replayed for an idempotency key. */
type Replayable = Value | { readonly kind: 'task'; readonly task: Task }

export interface Deferral {
  readonly callbackUrl?: string
}

export type Invoke = (call: Call, defer: Deferral | undefined) => Promise<Invoked>

/** Runs a call, directly or as a task, once per idempotency key. Streams are not stored for replay. */
export function createInvoke(performer: Performer, tasks: Tasks, monotonic: () => number): Invoke {
  const runIdempotently = createIdempotentRunner<Replayable>(monotonic)
  return async (call, defer) => {
    const begin = async (): Promise<Invoked> => {
      const admitted = await performer.admit(call)
      if (defer) return { kind: 'task', task: await tasks.start(admitted, defer.callbackUrl) }
      return performer.run(admitted)
    }
    const { idempotencyKey, capability, caller, input, version, delegationChain = null } = call
    if (idempotencyKey === undefined || (call.wantsStream && !defer)) return begin()
    const request = [capability.name, version, input, delegationChain, defer !== undefined]
    const { result, isReplay } = await runIdempotently(
      JSON.stringify([caller.client, idempotencyKey]),
      request,
      async () => {
        const invoked = await begin()
        if (invoked.kind === 'parts') throw new TypeError('a call without a stream returned one')
        return invoked
      },
    )
    return { ...result, isReplay }
  }
}
