import { DirectoryError } from '../errors.js'
import { type JsonLimits, type JsonValue, parseJson } from '../json.js'
import type { ServerSentEvent } from './event-reader.js'

const END_EVENTS: ReadonlySet<string | undefined> = new Set(['end', 'done', 'complete'])
/** An end event carries no data; one with data is a part. */
const NO_DATA: ReadonlySet<string> = new Set(['', '{}', 'null'])
/** Data by which many language models end a stream. */
const END_DATA = '[DONE]'

/** Whether an event is the end mark of a stream, and not a part of it. */
export const isEndEvent = ({ event, data }: ServerSentEvent): boolean =>
  data === END_DATA || (END_EVENTS.has(event) && NO_DATA.has(data))

/**
 * The data of an event: JSON, or plain text, which many agents stream. Text that starts like an object or array was
 * meant to be JSON; if it is not, a `DirectoryError` is thrown.
 */
export function readEventData(text: string, limits?: JsonLimits, parse = parseJson): JsonValue {
  try {
    return parse(text, limits)
  } catch (error) {
    if (!(error instanceof DirectoryError) || /^\s*[[{]/.test(text)) throw error
    return text.toWellFormed()
  }
}
