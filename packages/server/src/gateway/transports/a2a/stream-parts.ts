import type { PartBatches, StreamPart } from '@switchboard/protocol'
import type { CancelSignal } from '../../../cancellation.js'
import { observeStream } from '../../http/observe-stream.js'
import { badResponse } from '../rpc/send-json.js'
import type { A2aReplies, A2aReply } from './send-action.js'
import { isFinal, runningTaskIn, toStreamParts } from './to-response.js'

/**
 * The parts of a stream whose first reply has been read. If the reader stops or the signal is aborted, the agent's task
 * is cancelled: closing the connection alone would leave it running.
 */
export function streamParts(
  first: A2aReply,
  rest: A2aReplies,
  signal: CancelSignal,
  cancelTask: (task: string) => void,
): PartBatches {
  let task: string | undefined
  let isOver = false
  const note = (reply: A2aReply): void => {
    if (reply.kind === 'failure' || isFinal(reply.event)) isOver = true
    else task = runningTaskIn(reply) ?? task
  }
  const stop = (): void => {
    signal.removeEventListener('abort', stop)
    if (!isOver && task !== undefined) cancelTask(task)
    isOver = true
  }
  const end = (): void => {
    stop()
    rest.close()
  }
  note(first)
  signal.addEventListener('abort', stop)

  async function* batches(): AsyncGenerator<readonly StreamPart[], void> {
    let hasResult = false
    try {
      for (let next: IteratorResult<A2aReply, void> = { value: first }; !next.done; next = await rest.next()) {
        const reply = next.value
        note(reply)
        const translated = toStreamParts(reply, hasResult)
        hasResult ||= translated.some(({ event }) => event === undefined)
        if (translated.length > 0) yield translated
        if (reply.kind === 'failure') return
      }
      if (!isOver) throw badResponse('its stream ended before its task did')
    } finally {
      end()
    }
  }
  return observeStream(batches(), { onCancel: end })
}
