import { Readable } from 'node:stream'
import {
  chooseMediaType,
  DirectoryError,
  EVENT_STREAM,
  type JsonValue,
  NDJSON,
  type PartBatches,
  STREAM_TYPES,
  type StreamFormat,
  type StreamPart,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { InvocationResult } from '../../services/calls/response/invocation-result.js'
import type { Task } from '../../services/tasks/tasks.js'
import { sendJson, sendJsonText } from '../respond.js'
import { writeParts } from './write-parts.js'

/** Sends the result of a call in a media type that the caller accepts. */
export function sendResult(request: FastifyRequest, reply: FastifyReply, result: InvocationResult): FastifyReply {
  const { accept } = request.headers
  reply.code(result.status).headers(result.headers).header('cache-control', 'no-store')
  switch (result.kind) {
    case 'task':
      return sendAccepted(reply, result.task)
    case 'bytes':
      // Bytes from an agent must not run as a page of this directory.
      reply.header('content-type', result.contentType).header('content-security-policy', "default-src 'none'; sandbox")
      return reply.send(result.body)
    case 'json':
      // 204 and 205 have no body.
      if (result.status === 204 || result.status === 205) return reply.send()
      if (acceptsOnlyStreams(accept)) return sendStream(request, reply, only(result.value), formatFor(accept))
      return sendJsonText(reply, result.text ?? JSON.stringify(result.value))
    case 'stream':
      return sendStream(request, reply, result.batches, formatFor(accept))
  }
}

/** 202: the call is deferred; `Location` is where to poll for its result (AURI §8, C-62). */
function sendAccepted(reply: FastifyReply, { id, status, pollInterval }: Task): FastifyReply {
  reply.header('location', `/tasks/${id}`).header('retry-after', String(pollInterval))
  return sendJson(reply.code(202).header('cache-control', 'no-store'), { taskId: id, status, pollInterval })
}

/** A complete response as a stream of one part, for a caller that accepts only streams. */
async function* only(data: JsonValue): AsyncGenerator<readonly StreamPart[]> {
  yield [{ data }]
}

const acceptsOnlyStreams = (accept: string | undefined): boolean =>
  chooseMediaType(accept, ['application/json', ...STREAM_TYPES]) !== 'application/json' &&
  chooseMediaType(accept, ['application/json']) === undefined

/** Server-sent events, unless the caller prefers NDJSON (C-59). */
const formatFor = (accept: string | undefined): StreamFormat =>
  chooseMediaType(accept, STREAM_TYPES) === NDJSON.type ? NDJSON : EVENT_STREAM

function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  batches: PartBatches,
  format: StreamFormat,
): FastifyReply {
  const onError = (error: unknown): void => {
    const code = error instanceof DirectoryError ? error.code : undefined
    request.log[code === undefined ? 'error' : 'info']({ code, err: error }, 'a stream ended early')
  }
  // Proxies must not buffer parts.
  reply.header('content-type', `${format.type}; charset=utf-8`).header('x-accel-buffering', 'no')
  return reply.send(Readable.from(writeParts(batches, format, onError), { objectMode: false }))
}
