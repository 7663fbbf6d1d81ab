import { createLineSplitter } from './line-splitter.js'

/** Assembles the lines of JSON that come over a WebSocket (AURI §8); blank lines are left out. */
export interface MessageLines {
  /** The lines that this message completes. Take all of them before the next message. */
  push(message: string): Iterable<string>
  /** The last line, if the socket closed before its line end. */
  end(): string | undefined
}

/**
 * A line may be cut into several messages, and a message may hold several lines; a message that is a JSON value by
 * itself needs no line end. `tooLong` throws the error for a line with more than `maxLength` characters.
 */
export function createMessageLines(maxLength: number, tooLong: () => never): MessageLines {
  const splitter = createLineSplitter(maxLength, tooLong)
  const isBlank = (line: string): boolean => line.trim() === ''
  return {
    *push(message) {
      const isLine = splitter.isAtLineStart && isWholeMessage(message)
      for (const line of splitter.push(isLine ? `${message}\n` : message)) if (!isBlank(line)) yield line
    },
    end() {
      const last = splitter.end()
      return last === undefined || isBlank(last) ? undefined : last
    },
  }
}

/** Whether a message at the start of a line is a whole line, though it has no line end: it is a JSON value by itself. */
export function isWholeMessage(message: string): boolean {
  if (message.includes('\n')) return false
  try {
    JSON.parse(message)
    return true
  } catch {
    return false
  }
}
