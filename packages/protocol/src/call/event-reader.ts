import { createParser } from 'eventsource-parser'

/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  readonly data: string
  readonly event?: string
  readonly id?: string
}

/** Assembles events from pieces of text. */
export interface EventReader {
  /** The events that this piece completes. Throws at the first event that is too large, after those before it. */
  read(text: string): Iterable<ServerSentEvent>
}

/** Room for field names beside the data, so that the limit of an event does not depend on how the text is cut. */
const FIELD_ROOM = 64

/** A comment or a field without meaning here, with the line end before it. */
const UNUSED_LINE = /\n(?!(?:data|event|id)[:\n]|\n)[^\n]*(?=\n)/g

/**
 * Reads server-sent events (HTML standard) with bounded memory, in time linear in the text however it is cut.
 * `maxLength` limits the characters of an event's data; beyond it the error of `tooLarge` is thrown.
 *
 * Two kinds of input are removed before the parser sees them, because a hostile stream could keep it busy with them:
 * it searches a piece with a CR in it once for each line, and creates an Error for each unknown field.
 */
export function createEventReader(maxLength: number, tooLarge: () => Error): EventReader {
  let events: ServerSentEvent[] = []
  let isTooLarge = false
  let isAfterReturn = false
  const parser = createParser({
    maxBufferSize: maxLength + FIELD_ROOM,
    onEvent({ data, event, id }) {
      isTooLarge ||= data.length > maxLength
      if (!isTooLarge) events.push({ data, ...(event !== undefined && { event }), ...(id !== undefined && { id }) })
    },
    onError({ type }) {
      // Unknown fields are ignored, as the standard says.
      isTooLarge ||= type === 'max-buffer-size-exceeded'
    },
  })

  const withoutReturns = (text: string): string => {
    const rest = isAfterReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') isAfterReturn = text.endsWith('\r')
    return rest.includes('\r') ? rest.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : rest
  }

  return {
    *read(text) {
      const lines = withoutReturns(text)
      if (!isTooLarge) parser.feed(lines.includes('\n') ? lines.replaceAll(UNUSED_LINE, '') : lines)
      const complete = events
      events = []
      yield* complete
      if (isTooLarge) throw tooLarge()
    },
  }
}

export interface EventStreamOptions {
  /** Maximum number of characters of an event's data. */
  readonly maxLength: number
  readonly tooLarge: () => Error
  readonly notUtf8: (cause: unknown) => Error
}

/** Reads the events of a body from its chunks: the events that each chunk completes. */
export function createEventDecoder({
  maxLength,
  tooLarge,
  notUtf8,
}: EventStreamOptions): (chunk: Uint8Array) => Iterable<ServerSentEvent> {
  const reader = createEventReader(maxLength, tooLarge)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return (chunk) => {
    let text: string
    try {
      text = decoder.decode(chunk, { stream: true })
    } catch (cause) {
      throw notUtf8(cause)
    }
    return reader.read(text)
  }
}

/** The events of a body as they arrive. */
export async function* readEventStream(
  body: AsyncIterable<Uint8Array>,
  options: EventStreamOptions,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const eventsIn = createEventDecoder(options)
  for await (const chunk of body) yield* eventsIn(chunk)
}
