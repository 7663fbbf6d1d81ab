/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  readonly data: string
  readonly event?: string
  readonly id?: string
}

/** Puts events together from pieces of text; throws what `tooLarge` makes when one grows beyond the limit. */
export interface EventReader {
  /** The events that this piece completes; all are to be taken before the next piece is read. */
  read(text: string): Iterable<ServerSentEvent>
}

/**
 * The parser of the HTML standard, in time linear in the text however it is cut: an agent that sends a long line byte
 * by byte, or nothing but line ends, costs no more than any other.
 */
export function createEventReader(maxLength: number, tooLarge: () => Error): EventReader {
  let unfinished = ''
  let afterReturn = false
  let data: string[] = []
  let length = 0
  let event: string | undefined
  let id: string | undefined

  const field = (line: string): void => {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'data') {
      data.push(value)
      length += value.length + 1
      if (length > maxLength) throw tooLarge()
    }
  }

  const take = (): ServerSentEvent | undefined => {
    const ready = { data: data.join('\n'), ...(event && { event }), ...(id !== undefined && { id }) }
    const isEmpty = data.length === 0
    data = []
    length = 0
    event = undefined
    id = undefined
    return isEmpty ? undefined : ready
  }

  return {
    *read(text) {
      // A line may end in CR LF, LF or CR; a CR LF may be cut in two.
      const rest = afterReturn && text.startsWith('\n') ? text.slice(1) : text
      if (text !== '') afterReturn = text.endsWith('\r')
      const lines = rest.split(/\r\n|\r|\n/)
      const last = lines.pop() ?? ''
      for (const line of lines) {
        const whole = unfinished + line
        unfinished = ''
        if (whole.length > maxLength) throw tooLarge()
        if (whole !== '') field(whole)
        else {
          const ready = take()
          if (ready) yield ready
        }
      }
      unfinished += last
      if (unfinished.length + length > maxLength) throw tooLarge()
    },
  }
}
