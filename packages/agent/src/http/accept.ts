interface Range {
  readonly text: string
  readonly quality: number
  /** The client's order decides between types that it likes equally. */
  readonly position: number
}

/** Ranges of one header that are looked at. */
const MAX_RANGES = 50

/** The best of the media types that are offered, or undefined if the client takes none (RFC 9110 §12.5.1). */
export function chooseType(accept: string | null, offered: readonly string[]): string | undefined {
  if (accept === null || accept.trim() === '') return offered[0]
  const ranges = accept.split(',', MAX_RANGES).map(readRange)
  const [best] = offered
    .map((type) => ({ type, range: bestRange(ranges, type) }))
    .filter(({ range }) => range !== undefined && range.quality > 0)
    .sort(
      (a, b) =>
        (b.range?.quality ?? 0) - (a.range?.quality ?? 0) || (a.range?.position ?? 0) - (b.range?.position ?? 0),
    )
  return best?.type
}

function readRange(part: string, position: number): Range {
  const [text = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
  const quality = Number(parameters.find((piece) => piece.startsWith('q='))?.slice(2) ?? '1')
  return { text, quality: Number.isNaN(quality) ? 1 : quality, position }
}

/** The most specific range that a type falls in decides; `application/json;q=0` outdoes a general star. */
function bestRange(ranges: readonly Range[], type: string): Range | undefined {
  const wanted = [type, `${type.split('/')[0]}/*`, '*/*']
  return wanted.map((text) => ranges.find((range) => range.text === text)).find((range) => range !== undefined)
}
