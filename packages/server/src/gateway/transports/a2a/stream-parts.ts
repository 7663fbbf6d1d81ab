import type { StreamPart } from '@switchboard/protocol'
import { observeStream } from '../../http/observe-stream.js'
import { badResponse } from '../rpc/send-json.js'
import type { A2aReply } from './send-action.js'
import { isFinal, toStreamParts } from './to-response.js'

/**
 * The parts of a stream whose first reply has been read. If the reader stops or the signal is aborted, the agent's task
 * is cancelled: closing the connection alone would leave it running.
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
    if (reply.kind === 'failure' || isFinal(reply.event)) isOver = true
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
        const translated = toStreamParts(reply, hasResult)
        hasResult ||= translated.some(({ event }) => event === undefined)
        yield* translated
        if (reply.kind === 'failure') return
      }
      if (!isOver) throw badResponse('its stream ended before its task did')
    } finally {
      await end()
    }
  }
  return observeStream(parts(), { onCancel: end })
}
