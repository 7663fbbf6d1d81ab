import { DirectoryError } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'

/** Media types that a descriptor can be had in (C-28, C-86). */
const OFFERED = ['application/json', 'application/agent-card+json', 'application/ld+json']

/** The media type to answer with, or 406 and what there is (AURI §8.1, RFC 9110 §12.5.1). */
export function negotiate(request: FastifyRequest): string {
  const accept = request.headers.accept
  if (accept === undefined || accept.trim() === '') return 'application/json'
  const ranges = accept.split(',').map(parseRange)
  const [best] = OFFERED.map((type) => ({ type, ...bestRange(ranges, type) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.position - b.position)
  if (best) return best.type
  throw new DirectoryError('not_acceptable', `this document is offered as ${OFFERED.join(', ')}`, {
    members: { supported: OFFERED },
  })
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
