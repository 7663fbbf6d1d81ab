import { ClientError } from '../errors.js'

/** Cuts text that comes in pieces into lines; what has not ended yet is kept, up to a limit. */
export interface LineSplitter {
  /** Lines that have ended with this piece, without their ends. */
  push(text: string): string[]
  /** The last line, if text stood after the last end of line. */
  end(): string | undefined
}

/**
 * Only the new piece is looked at, so that a line which comes a character at a time costs no more than another. Lines
 * end with LF or, where `ends` says so, with CR LF and a lone CR too (server-sent events know all three).
 */
export function createLineSplitter(maxLength: number, ends: 'lf' | 'any' = 'lf'): LineSplitter {
  const end = ends === 'any' ? /\r\n|\n|\r/g : /\n/g
  let tail = ''
  // With lone CRs as ends, one that ends a piece may be half of a CR LF whose LF comes with the next piece.
  let skipLf = false
  const assertShort = (length: number): void => {
    if (length > maxLength) throw new ClientError('too_large', `a line has more than ${maxLength} characters`)
  }
  return {
    push(text) {
      let start = skipLf && text.startsWith('\n') ? 1 : 0
      if (text !== '') skipLf = ends === 'any' && text.endsWith('\r')
      const lines: string[] = []
      end.lastIndex = start
      for (let match = end.exec(text); match !== null; match = end.exec(text)) {
        assertShort(tail.length + match.index - start)
        lines.push(tail + text.slice(start, match.index))
        tail = ''
        start = end.lastIndex
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
