import { DirectoryError, errorBody, type JsonObject, type StreamFormat, type StreamPart } from '@switchboard/protocol'
import { heartbeats, SILENCE } from './heartbeats.js'

/** Milliseconds; shorter than the idle timeouts of proxies. */
export const HEARTBEAT_MS = 15_000

/** The text of a stream, up to its end mark or the error that breaks it off. */
export async function* writeParts(
  parts: AsyncIterable<StreamPart>,
  format: StreamFormat,
  onError: (error: unknown) => void,
  heartbeatMs = HEARTBEAT_MS,
): AsyncGenerator<string> {
  try {
    for await (const part of heartbeats(parts, heartbeatMs)) {
      yield part === SILENCE ? format.heartbeat : format.part(part)
    }
  } catch (error) {
    onError(error)
    yield format.error(errorOf(error))
    return
  }
  if (format.end !== '') yield format.end
}

/** The error as a line of a stream: `{"error": …}` without the members of a response. */
export function errorOf(error: unknown): JsonObject {
  const known = error instanceof DirectoryError ? error : new DirectoryError('internal_error', 'the directory failed')
  const { error: object = null } = errorBody(known, { base: '', instance: '', correlationId: '' })
  return { error: object }
}
