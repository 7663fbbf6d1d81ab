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
  const text = message.trim()
  if (text.startsWith('{') || text.startsWith('[')) return endsWithItsFirstBracket(text)
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Whether the bracket that a text starts with is closed at its end. Parsing would take much more time and memory. */
function endsWithItsFirstBracket(text: string): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) isInString = !isInString
    else if (isInString) {
      if (c === BACKSLASH) at++
    } else if (c === OPEN_BRACKET || c === OPEN_BRACE) depth++
    else if ((c === CLOSE_BRACKET || c === CLOSE_BRACE) && --depth === 0) return at === text.length - 1
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
