import { ClientError } from '../errors.js'

/** Cuts text that comes in pieces into lines; what has not ended yet is kept, up to a limit. */
export interface LineSplitter {
  /** Lines that have ended with this piece, without their ends. */
  push(text: string): string[]
  /** The last line, if text stood after the last end of line. */
  end(): string | undefined
}

/** Only the new piece is looked at, so that a line which comes a character at a time costs no more than another. */
export function createLineSplitter(maxLength: number): LineSplitter {
  let tail = ''
  const assertShort = (length: number): void => {
    if (length > maxLength) throw new ClientError('too_large', `a line has more than ${maxLength} characters`)
  }
  return {
    push(text) {
      const lines: string[] = []
      let start = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        assertShort(tail.length + end - start)
        lines.push(tail + text.slice(start, end))
        tail = ''
        start = end + 1
      }
      assertShort(tail.length + text.length - start)
      tail += text.slice(start)
      return lines
    },
    end() {
      const last = tail
      tail = ''
      return last === '' ? undefined : last
    },
  }
}
