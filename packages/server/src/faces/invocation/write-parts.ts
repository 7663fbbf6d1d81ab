import { DirectoryError, type JsonObject, type StreamFormat, type StreamPart } from '@switchboard/protocol'
import { errorObject } from '../../services/calls/response/call-failed.js'
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
    yield format.error(errorLine(error))
    return
  }
  if (format.end !== '') yield format.end
}

/** The error as a line of a stream; internal errors are not revealed. */
export function errorLine(error: unknown): { error: JsonObject } {
  const known = error instanceof DirectoryError ? error : new DirectoryError('internal_error', 'the directory failed')
  return { error: errorObject(known) }
}
