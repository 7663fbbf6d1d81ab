import type { JsonObject, JsonValue, StreamFormat } from '@switchboard/protocol'

/** Milliseconds; shorter than the idle timeouts of proxies. */
const HEARTBEAT_MS = 15_000

export interface StreamBodyOptions {
  readonly format: StreamFormat
  /** The problem document for a failure. */
  readonly toProblem: (error: unknown) => JsonObject
  /** Called when the reader leaves early. */
  readonly onLeave: () => void
}

/** A body that produces the next part only when the reader has room for it. */
export function streamBody(
  parts: AsyncGenerator<JsonValue, void, undefined>,
  { format, toProblem, onLeave }: StreamBodyOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval> | undefined
  const stop = (): void => clearInterval(timer)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Only into an empty queue: heartbeats must not pile up for a slow reader.
        const beat = (): void => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(format.heartbeat))
        }
        timer = setInterval(beat, HEARTBEAT_MS)
        timer.unref()
      },
      async pull(controller) {
        try {
          const { done, value } = await parts.next()
          if (!done) {
            controller.enqueue(encoder.encode(format.part({ data: value })))
            return
          }
          if (format.end !== '') controller.enqueue(encoder.encode(format.end))
        } catch (error) {
          controller.enqueue(encoder.encode(format.error(toProblem(error))))
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
