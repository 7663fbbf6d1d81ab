import { DirectoryError, errorBody } from '@switchboard/protocol'
import { isSearchOutage } from '@switchboard/search'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { CallFailed } from '../services/calls/response/call-failed.js'
import { isStoreFailure, StoreError } from '../store/store-error.js'
import { isArdUrl, toArdError } from './ard/ard-errors.js'
import { challengeOf } from './protected-resource.js'
import { pathOf } from './read-request.js'

/** Sends the error body that clients of every draft can read, in the media type of the route group (C-68). */
export function sendError(
  error: DirectoryError,
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
): FastifyReply {
  // A failing agent is not an error of the directory, but its operator may want to know the reason.
  const isAgentFailure = error instanceof CallFailed
  const isOurs = error.status >= 500 && !isAgentFailure && !hasLeft(error, reply)
  // A failing store has one line in the log, whatever the number of requests.
  const level = isStoreFailure(error.cause) ? 'debug' : isOurs ? 'error' : 'info'
  request.log[level](
    {
      code: error.code,
      status: error.status,
      path: pathOf(request),
      ...(level === 'error' && { err: error.cause ?? error }),
      ...(isAgentFailure && error.cause instanceof Error && { reason: error.cause.message }),
    },
    'request rejected',
  )
  const { group } = request.routeOptions.config
  const toMembers = group ? group.errorMembers : isArdUrl(request.url) ? toArdError : undefined
  const body = {
    ...errorBody(error, { base: baseUrl, instance: pathOf(request), correlationId: request.id }),
    ...toMembers?.(error),
  }
  const wantsProblem = (request.headers.accept ?? '').includes('application/problem+json')
  const type = wantsProblem ? 'application/problem+json' : (group?.errors ?? errorTypeOf(request.url))
  // An agent's 401 concerns the credential for the agent, not the one for the directory.
  if (error.code === 'unauthorized' && !isAgentFailure)
    reply.header('www-authenticate', challengeOf(error, request, baseUrl))
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  // These were set for the document, not for its error.
  for (const name of ['etag', 'last-modified', 'link']) reply.removeHeader(name)
  return reply
    .code(error.status)
    .headers(error.headers)
    .header('cache-control', 'no-store')
    .header('content-type', `${type}; charset=utf-8`)
    .send(JSON.stringify(body))
}

/** Whether the error only says that the client disconnected before a stream could be sent to it. */
const hasLeft = ({ cause }: DirectoryError, { raw }: FastifyReply): boolean =>
  raw.destroyed && cause instanceof Error && 'code' in cause && cause.code === 'ERR_STREAM_PREMATURE_CLOSE'

/** The media type of errors if no route matched (C-68). */
const errorTypeOf = (url: string): string =>
  /^\/(ad|\.well-known|tasks)(\/|$|\?)/.test(url) ? 'application/problem+json' : 'application/json'

/** Translates errors of Fastify, the store and the search; any other error is a bug, and only its request id is revealed. */
export function toDirectoryError(error: unknown, request: FastifyRequest): DirectoryError {
  if (error instanceof DirectoryError) return error
  if (error instanceof StoreError) {
    return new DirectoryError('unavailable', 'the database does not work at the moment: try again later', {
      cause: error,
      retryAfter: Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1000)),
    })
  }
  if (isSearchOutage(error))
    return new DirectoryError('unavailable', 'search by text is not available at the moment: try again later', {
      cause: error,
      retryAfter: 1,
    })
  const status = isFastifyError(error) ? (error.statusCode ?? 500) : 500
  if (status === 413) return new DirectoryError('payload_too_large', 'the body is too large', { cause: error })
  if (status === 415)
    return new DirectoryError('unsupported_media_type', 'send JSON with "Content-Type: application/json"', {
      cause: error,
    })
  if (status >= 400 && status < 500 && isFastifyError(error))
    return new DirectoryError('invalid_request', error.message, { cause: error })
  return new DirectoryError('internal_error', `internal error: the operator can find it in the log as ${request.id}`, {
    cause: error,
  })
}

const isFastifyError = (error: unknown): error is FastifyError => error instanceof Error && 'statusCode' in error
