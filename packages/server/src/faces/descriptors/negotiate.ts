import { DirectoryError } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'

/** Media types that a descriptor can be had in (C-28, C-86). */
const OFFERED = ['application/json', 'application/agent-card+json', 'application/ld+json']

/** The media type to answer with, or 406 and what there is (AURI §8.1). */
export function negotiate(request: FastifyRequest): string {
  const accept = request.headers.accept
  if (accept === undefined || accept.trim() === '') return 'application/json'
  const ranges = accept
    .split(',')
    .map(parseRange)
    .filter(({ quality }) => quality > 0)
  const best = ranges
    .sort((a, b) => b.quality - a.quality)
    .map(({ range }) => OFFERED.find((type) => fits(range, type)))
    .find((type) => type !== undefined)
  if (best !== undefined) return best
  throw new DirectoryError('not_acceptable', `this document is offered as ${OFFERED.join(', ')}`, {
    members: { supported: OFFERED },
  })
}

function parseRange(text: string): { range: string; quality: number } {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const quality = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? '1')
  return { range, quality: Number.isNaN(quality) ? 1 : quality }
}

const fits = (range: string, type: string): boolean =>
  range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
