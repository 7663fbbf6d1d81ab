import { GatewayError } from '../../gateway.js'
import { isNotCancelable, isUnknownTask } from './read-error.js'
import type { A2aReply } from './send-action.js'
import { runningTaskIn } from './to-response.js'
import type { A2aAction } from './write-request.js'

/** Sends a request of A2A and reads its only reply. */
export type SendForReply = (action: A2aAction) => Promise<A2aReply>

/** Cancels a task, as `Gateway.cancel` does. */
export async function cancelTask(send: SendForReply, task: string): Promise<void> {
  const reply = await send({ kind: 'cancel', task })
  if (reply.kind === 'event' || isUnknownTask(reply.failure)) return
  const { status } = reply.failure
  if (!isNotCancelable(reply.failure)) {
    const isTemporary = status === 429 || (status >= 500 && status !== 501)
    const message = `the agent did not cancel its task (status ${status})`
    throw new GatewayError(isTemporary ? 'bad_response' : 'not_invocable', message)
  }
  // The same error says that the task has ended and that the agent does not want to cancel it.
  if (runningTaskIn(await send({ kind: 'get', task })) === undefined) return
  throw new GatewayError('not_invocable', 'the agent refused to cancel its task')
}
