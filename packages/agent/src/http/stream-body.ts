import type { JsonObject, JsonValue } from '@switchboard/protocol'
import type { StreamForm } from './stream-forms.js'

/** Milliseconds; shorter than the patience of proxies. */
const HEARTBEAT_MS = 15_000

export interface StreamBodyOptions {
  readonly form: StreamForm
  /** What callers are told of a failure. */
  readonly toProblem: (error: unknown) => JsonObject
  /** The reader has gone. */
  readonly onLeave: () => void
}

/** A body that asks for the next part only when the reader has room for it. */
export function streamBody(
  parts: AsyncGenerator<JsonValue, void, undefined>,
  { form, toProblem, onLeave }: StreamBodyOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval> | undefined
  const stop = (): void => clearInterval(timer)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Only into an empty queue: a reader who does not read needs no sign of life.
        const beat = (): void => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(form.heartbeat))
        }
        timer = setInterval(beat, HEARTBEAT_MS)
        timer.unref()
      },
      async pull(controller) {
        try {
          const { done, value } = await parts.next()
          if (!done) {
            controller.enqueue(encoder.encode(form.part(value)))
            return
          }
          if (form.end !== '') controller.enqueue(encoder.encode(form.end))
        } catch (error) {
          controller.enqueue(encoder.encode(form.error(toProblem(error))))
        }
        stop()
        controller.close()
      },
      cancel() {
        stop()
        onLeave()
        parts.return().catch(() => {})
      },
    },
    { highWaterMark: 1 },
  )
}
