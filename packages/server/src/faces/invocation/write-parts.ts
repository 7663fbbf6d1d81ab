import { DirectoryError, type JsonObject, type PartBatches, type StreamFormat } from '@switchboard/protocol'
import { errorObject } from '../../services/calls/response/call-failed.js'
import { heartbeats, SILENCE } from './heartbeats.js'

/** Milliseconds; shorter than the idle timeouts of proxies. */
export const HEARTBEAT_MS = 15_000

/** The text of a stream, up to its end mark or the error that breaks it off. */
export async function* writeParts(
  batches: PartBatches,
  format: StreamFormat,
  onError: (error: unknown) => void,
  heartbeatMs = HEARTBEAT_MS,
): AsyncGenerator<string> {
  try {
    for await (const batch of heartbeats(batches, heartbeatMs)) {
      yield batch === SILENCE ? format.heartbeat : batch.map(format.part).join('')
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
