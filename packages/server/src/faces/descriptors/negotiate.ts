import { DirectoryError } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { chooseType } from '../accept.js'

/** Media types that a descriptor can be had in (C-28, C-86). */
const OFFERED = ['application/json', 'application/agent-card+json', 'application/ld+json']

/** The media type to answer with, or 406 and what there is (AURI §8.1). */
export function negotiate(request: FastifyRequest): string {
  const type = chooseType(request.headers.accept, OFFERED)
  if (type !== undefined) return type
  throw new DirectoryError('not_acceptable', `this document is offered as ${OFFERED.join(', ')}`, {
    members: { supported: OFFERED },
  })
}
