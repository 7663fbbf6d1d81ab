import type { IncomingMessage } from 'node:http'
import { DirectoryError } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'

/** Bytes of one document (C-76). */
const DOCUMENT_LIMIT = 262_144
/** A body that is too large is read this far, so that its sender gets to hear the answer. */
const DRAIN_LIMIT = 16 * 1024 * 1024

/** Gathers a body within the route's limit; routes without one read the stream themselves. */
export function collectBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: unknown) => void,
): void {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    const message = `bodies are read as they are: send this one without "Content-Encoding: ${encoding.slice(0, 80)}"`
    done(new DirectoryError('unsupported_media_type', message))
    return
  }
  const limit = request.routeOptions.config.route?.bodyLimit ?? DOCUMENT_LIMIT
  if (limit === Number.POSITIVE_INFINITY) {
    done(null, payload)
    return
  }
  const chunks: Buffer[] = []
  let size = 0
  payload.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
    else {
      chunks.length = 0
      if (size > DRAIN_LIMIT) payload.destroy()
    }
  })
  payload.on('end', () => {
    if (size <= limit) {
      done(null, Buffer.concat(chunks))
      return
    }
    const message = `the body has ${size} bytes; ${limit} are allowed: leave out what is not needed, or refer to it by URL`
    done(new DirectoryError('payload_too_large', message))
  })
  payload.on('error', (cause) => done(new DirectoryError('invalid_request', 'the body ended too early', { cause })))
}
