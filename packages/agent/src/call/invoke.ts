import type { Task } from '../tasks/task.js'
import type { Tasks } from '../tasks/tasks.js'
import type { Call, Outcome, Value } from './call.js'
import { createOnce } from './idempotency.js'
import type { Performer } from './perform.js'

/** What came of a call: an answer, or the promise of one. */
export type Invoked = (Outcome | { readonly kind: 'task'; readonly task: Task }) & { readonly isReplay?: boolean }

/** Answers that can be given again. */
type Kept = Value | { readonly kind: 'task'; readonly task: Task }

export interface Deferral {
  readonly callbackUrl?: string
}

export type Invoke = (call: Call, defer: Deferral | undefined) => Promise<Invoked>

/** Makes a call: once for its key, at once or as a task. Streams are not kept for their key. */
export function createInvoke(performer: Performer, tasks: Tasks, now: () => number): Invoke {
  const once = createOnce<Kept>(now)
  return async (call, defer) => {
    const begin = async (): Promise<Invoked> => {
      const admitted = await performer.admit(call)
      if (defer) return { kind: 'task', task: await tasks.start(admitted, defer.callbackUrl) }
      return performer.run(admitted)
    }
    const { idempotencyKey, capability, caller, input, version, delegationChain = null } = call
    if (idempotencyKey === undefined || (call.wantsStream && !defer)) return begin()
    const request = [capability.name, version, input, delegationChain, defer !== undefined]
    const { answer, isReplay } = await once(JSON.stringify([caller.client, idempotencyKey]), request, async () => {
      const invoked = await begin()
      if (invoked.kind === 'parts') throw new TypeError('a call that wants no stream gave one')
      return invoked
    })
    return { ...answer, isReplay }
  }
}
