import { DirectoryError, errorBody } from '@switchboard/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { CallFailed } from '../services/calls/response/call-failed.js'
import { StoreError } from '../services/context.js'

/** Answers with the one body that a client of any draft can read, in the media type of its face (C-68). */
export function sendError(
  error: DirectoryError,
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
): FastifyReply {
  // What an agent does wrong is no failure of ours, but its operator may want to know.
  const isAgents = error instanceof CallFailed
  const level = error.status >= 500 && !isAgents ? 'error' : 'info'
  request.log[level](
    {
      code: error.code,
      status: error.status,
      path: pathOf(request),
      ...(level === 'error' && { err: error.cause ?? error }),
      ...(isAgents && error.cause instanceof Error && { reason: error.cause.message }),
    },
    'refused',
  )
  const body = errorBody(error, { base: baseUrl, instance: pathOf(request), correlationId: request.id })
  const wantsProblem = (request.headers.accept ?? '').includes('application/problem+json')
  const type = wantsProblem
    ? 'application/problem+json'
    : (request.routeOptions.config.group?.errors ?? errorTypeOf(request.url))
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  // What a response was going to say of the document does not hold for its error.
  for (const name of ['etag', 'last-modified', 'link']) reply.removeHeader(name)
  return reply
    .code(error.status)
    .headers(error.headers)
    .header('cache-control', 'no-store')
    .header('content-type', `${type}; charset=utf-8`)
    .send(JSON.stringify(body))
}

/** Where no route matched, the path still tells whose error it is (C-68). */
const errorTypeOf = (url: string): string =>
  /^\/(ad|\.well-known|tasks)(\/|$|\?)/.test(url) ? 'application/problem+json' : 'application/json'

export const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? ''

/** Fastify's own complaints in our words; anything else is our failure and tells the caller nothing. */
export function toDirectoryError(error: unknown, request: FastifyRequest): DirectoryError {
  if (error instanceof DirectoryError) return error
  if (error instanceof StoreError) {
    return new DirectoryError('unavailable', 'the store does not answer now: try again', {
      cause: error,
      retryAfter: 1,
    })
  }
  const status = isFastifyError(error) ? (error.statusCode ?? 500) : 500
  if (status === 413) return new DirectoryError('payload_too_large', 'the body is too large', { cause: error })
  if (status === 415)
    return new DirectoryError('unsupported_media_type', 'send JSON with "Content-Type: application/json"', {
      cause: error,
    })
  if (status >= 400 && status < 500 && isFastifyError(error))
    return new DirectoryError('invalid_request', error.message, { cause: error })
  return new DirectoryError('internal_error', `the directory failed; its operator can find this as ${request.id}`, {
    cause: error,
  })
}

const isFastifyError = (error: unknown): error is FastifyError => error instanceof Error && 'statusCode' in error
