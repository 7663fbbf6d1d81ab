import type { StreamPart } from '@switchboard/protocol'
import { withCleanup } from '../../http/with-cleanup.js'
import { badAnswer } from '../rpc/ask.js'
import type { A2aReply } from './converse.js'
import { isLast, partsOf } from './write-answer.js'

/**
 * The parts of a stream whose first reply has come. Whoever stops reading, or goes away, stops the agent's work too:
 * closing the connection alone would leave its task running.
 */
export function streamParts(
  first: A2aReply,
  rest: AsyncGenerator<A2aReply, void>,
  signal: AbortSignal,
  cancelTask: (task: string) => void,
): AsyncIterable<StreamPart> {
  let task: string | undefined
  let isOver = false
  const note = (reply: A2aReply): void => {
    if (reply.kind === 'failure' || isLast(reply.event)) isOver = true
    else if (reply.event.kind !== 'message' && reply.event.taskId !== undefined) task = reply.event.taskId
  }
  const stop = (): void => {
    signal.removeEventListener('abort', stop)
    if (!isOver && task !== undefined) cancelTask(task)
    isOver = true
  }
  const end = async (): Promise<void> => {
    stop()
    await rest.return()
  }
  note(first)
  signal.addEventListener('abort', stop)

  async function* parts(): AsyncGenerator<StreamPart, void> {
    let hasResult = false
    try {
      for (let next: IteratorResult<A2aReply, void> = { value: first }; !next.done; next = await rest.next()) {
        const reply = next.value
        note(reply)
        const told = partsOf(reply, hasResult)
        hasResult ||= told.some(({ event }) => event === undefined)
        yield* told
        if (reply.kind === 'failure') return
      }
      if (!isOver) throw badAnswer('its stream ended before its work did')
    } finally {
      await end()
    }
  }
  return withCleanup(parts(), end)
}
