import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from './respond.js'

/** Bytes above which a response is sent part by part, as fast as the client reads it. */
const STREAMED_BYTES = 256 * 1024

/**
 * Sends JSON text in parts, which other responses may share. A large response is not joined: a client that does not read
 * would hold a copy of the whole.
 */
export function sendParts(
  reply: FastifyReply,
  parts: readonly (string | Buffer)[],
  type: string = JSON_TYPE,
): FastifyReply {
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  reply.header('content-type', type)
  if (length <= STREAMED_BYTES) return reply.send(parts.map(String).join(''))
  return reply.header('content-length', String(length)).send(Readable.from(parts))
}

/** The items of a list as parts, with commas between them. */
export const listParts = (start: string, items: readonly string[], end: string): string[] => [
  start,
  ...items.flatMap((item, i) => (i === 0 ? [item] : [',', item])),
  end,
]
