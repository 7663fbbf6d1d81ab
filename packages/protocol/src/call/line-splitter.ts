/** Splits a stream that arrives in pieces into lines; an unfinished line is kept, up to the limit. */
export interface LineSplitter<Piece, Line = Piece> {
  /** The lines that this piece completes, without their line ends. Take all of them before the next piece. */
  push(piece: Piece): Iterable<Line>
  /** The last line, if it has no line end. */
  end(): Line | undefined
  /** Whether the next piece starts a line. */
  readonly isAtLineStart: boolean
}

/**
 * Splits text. `tooLong` is called as soon as a line has more than `maxLength` characters: it throws, or returns what
 * takes the place of the line, whose rest is skipped.
 */
export const createLineSplitter = <TooLong>(
  maxLength: number,
  tooLong: () => TooLong,
): LineSplitter<string, string | TooLong> => createSplitter(TEXT, maxLength, tooLong)

/** Splits bytes, so that one line with invalid UTF-8 does not spoil the others; `maxLength` counts bytes. */
export const createByteLineSplitter = <TooLong>(
  maxLength: number,
  tooLong: () => TooLong,
): LineSplitter<Uint8Array, Uint8Array | TooLong> => createSplitter(BYTES, maxLength, tooLong)

interface PieceKind<Piece> {
  nextLineEnd(piece: Piece, from: number): number
  slice(piece: Piece, start: number, end: number): Piece
  join(pieces: readonly Piece[]): Piece
}

const TEXT: PieceKind<string> = {
  nextLineEnd: (text, from) => text.indexOf('\n', from),
  slice: (text, start, end) => text.slice(start, end),
  join: (texts) => texts.join(''),
}

const BYTES: PieceKind<Uint8Array> = {
  nextLineEnd: (bytes, from) => bytes.indexOf(0x0a, from),
  slice: (bytes, start, end) => bytes.subarray(start, end),
  join(parts) {
    const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      whole.set(part, at)
      at += part.length
    }
    return whole
  },
}

/** Looks at each piece once, so that a line which arrives byte by byte costs no more than another. */
function createSplitter<Piece extends { readonly length: number }, TooLong>(
  kind: PieceKind<Piece>,
  maxLength: number,
  tooLong: () => TooLong,
): LineSplitter<Piece, Piece | TooLong> {
  let parts: Piece[] = []
  let length = 0
  let replacement: { readonly line: TooLong } | undefined

  const add = (piece: Piece): void => {
    length += piece.length
    if (replacement) return
    if (length > maxLength) {
      parts = []
      replacement = { line: tooLong() }
    } else if (piece.length > 0) parts.push(piece)
  }
  const take = (): Piece | TooLong => {
    const [first] = parts
    const line = replacement ? replacement.line : first !== undefined && parts.length === 1 ? first : kind.join(parts)
    parts = []
    length = 0
    replacement = undefined
    return line
  }

  return {
    *push(piece) {
      let start = 0
      for (let end = kind.nextLineEnd(piece, 0); end >= 0; end = kind.nextLineEnd(piece, start)) {
        add(kind.slice(piece, start, end))
        yield take()
        start = end + 1
      }
      add(kind.slice(piece, start, piece.length))
    },
    end: () => (length > 0 ? take() : undefined),
    get isAtLineStart() {
      return length === 0
    },
  }
}
