import { type JsonObject, type JsonValue, STREAM_TYPES } from '@switchboard/protocol'

/** One form of a stream over HTTP (C-59). */
export interface StreamForm {
  readonly type: string
  part(data: JsonValue): string
  /** A failure after the first byte; nothing follows it, not even the end mark. */
  error(problem: JsonObject): string
  /** Says that nothing is missing. */
  readonly end: string
  /** Keeps the connection open while there is nothing to say. */
  readonly heartbeat: string
}

/** Server-sent events; JSON has no line breaks, so one `data` line holds a part. */
export const EVENTS: StreamForm = {
  type: STREAM_TYPES[0],
  part: (data) => `data: ${JSON.stringify(data)}\n\n`,
  error: (problem) => `event: error\ndata: ${JSON.stringify(problem)}\n\n`,
  end: 'event: end\ndata: {}\n\n',
  heartbeat: ': still here\n\n',
}

/** One JSON value a line; where the lines end, the stream does, and only an error ends it before its time. */
export const LINES: StreamForm = {
  type: STREAM_TYPES[1],
  part: (data) => `${JSON.stringify(data)}\n`,
  error: (problem) => `${JSON.stringify({ error: problem })}\n`,
  end: '',
  heartbeat: '\n',
}

/** Server-sent events, unless the caller would rather have lines. */
export const formOf = (type: string | undefined): StreamForm => (type === LINES.type ? LINES : EVENTS)
