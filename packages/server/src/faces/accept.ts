/** The best of the media types that are offered, or undefined if the client takes none (RFC 9110 §12.5.1). */
export function chooseType(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0]
  const ranges = accept.split(',').map(parseRange)
  const [best] = offered
    .map((type) => ({ type, ...bestRange(ranges, type) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.position - b.position)
  return best?.type
}

interface Range {
  readonly text: string
  readonly quality: number
  /** The client's order decides between types that it likes equally. */
  readonly position: number
}

function parseRange(part: string, position: number): Range {
  const [text = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
  const quality = Number(parameters.find((piece) => piece.startsWith('q='))?.slice(2) ?? '1')
  return { text, quality: Number.isNaN(quality) ? 1 : quality, position }
}

/** The most specific range that a type falls in decides; `application/json;q=0` outdoes a general star. */
function bestRange(ranges: readonly Range[], type: string): Pick<Range, 'quality' | 'position'> {
  for (const text of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const range = ranges.find((candidate) => candidate.text === text)
    if (range) return range
  }
  return { quality: 0, position: 0 }
}
