import { DirectoryError, errorBody, type JsonObject } from '@switchboard/protocol'
import type { StreamPart } from '../../services/calls/request/invocation.js'
import { heartbeats, SILENCE } from './heartbeats.js'

/** One form of a stream (C-59). */
export interface StreamForm {
  readonly type: string
  part(part: StreamPart): string
  /** A failure after the first byte; nothing follows it. */
  error(error: JsonObject): string
  /** Says that nothing is missing. */
  readonly end: string
  /** Keeps the connection open while there is nothing to say. */
  readonly heartbeat: string
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, ' ')

/** Server-sent events; JSON has no line breaks, so one `data` line holds a part. */
export const EVENTS: StreamForm = {
  type: 'text/event-stream; charset=utf-8',
  part: ({ data, event, id }) =>
    `${id === undefined ? '' : `id: ${oneLine(id)}\n`}${event === undefined ? '' : `event: ${oneLine(event)}\n`}data: ${JSON.stringify(data)}\n\n`,
  error: (error) => `event: error\ndata: ${JSON.stringify(error)}\n\n`,
  end: 'event: end\ndata: {}\n\n',
  heartbeat: ': still here\n\n',
}

/** One JSON value a line; where the lines end, the stream does, and only an error ends it before its time. */
export const LINES: StreamForm = {
  type: 'application/x-ndjson; charset=utf-8',
  part: ({ data }) => `${JSON.stringify(data)}\n`,
  error: (error) => `${JSON.stringify(error)}\n`,
  end: '',
  heartbeat: '\n',
}

/** Milliseconds; shorter than the patience of proxies. */
export const HEARTBEAT_MS = 15_000

/** A stream as text, to its end mark or to the error that it breaks off with. */
export async function* writeParts(
  parts: AsyncIterable<StreamPart>,
  form: StreamForm,
  onError: (error: unknown) => void,
  heartbeatMs = HEARTBEAT_MS,
): AsyncGenerator<string> {
  try {
    for await (const part of heartbeats(parts, heartbeatMs)) yield part === SILENCE ? form.heartbeat : form.part(part)
  } catch (error) {
    onError(error)
    yield form.error(errorOf(error))
    return
  }
  if (form.end !== '') yield form.end
}

/** The error object alone, as a line of a stream has it. */
export function errorOf(error: unknown): JsonObject {
  const known = error instanceof DirectoryError ? error : new DirectoryError('internal_error', 'the directory failed')
  const { error: object = null } = errorBody(known, { base: '', instance: '', correlationId: '' })
  return { error: object }
}
