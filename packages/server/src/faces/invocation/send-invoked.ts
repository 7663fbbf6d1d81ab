import { Readable } from 'node:stream'
import {
  chooseMediaType,
  DirectoryError,
  EVENT_STREAM,
  type JsonValue,
  NDJSON,
  STREAM_TYPES,
  type StreamFormat,
  type StreamPart,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Invoked, Task } from '../../services/calls/request/invocation.js'
import { sendJson } from '../respond.js'
import { writeParts } from './write-parts.js'

/** Answers a call in the form that the caller takes. */
export function sendInvoked(request: FastifyRequest, reply: FastifyReply, invoked: Invoked): FastifyReply {
  const { accept } = request.headers
  reply.code(invoked.status).headers(invoked.headers).header('cache-control', 'no-store')
  switch (invoked.kind) {
    case 'task':
      return sendAccepted(reply, invoked.task)
    case 'bytes':
      // Whatever an agent sends, it is no page of this directory.
      reply.header('content-type', invoked.contentType).header('content-security-policy', "default-src 'none'; sandbox")
      return reply.send(invoked.body)
    case 'json':
      // 204 and 205 say that there is nothing to say.
      if (invoked.status === 204 || invoked.status === 205) return reply.send()
      if (takesOnlyStreams(accept)) return sendStream(request, reply, only(invoked.value), formatFor(accept))
      return sendJson(reply, invoked.value)
    case 'stream':
      return sendStream(request, reply, invoked.parts, formatFor(accept))
  }
}

/** 202: the call is deferred; `Location` says where to ask for its result (AURI §8, C-62). */
function sendAccepted(reply: FastifyReply, { id, status, pollInterval }: Task): FastifyReply {
  reply.header('location', `/tasks/${id}`).header('retry-after', String(pollInterval))
  return sendJson(reply.code(202).header('cache-control', 'no-store'), { taskId: id, status, pollInterval })
}

/** A complete response as a stream of one part, for a caller that accepts only streams. */
async function* only(data: JsonValue): AsyncGenerator<StreamPart> {
  yield { data }
}

const takesOnlyStreams = (accept: string | undefined): boolean =>
  chooseMediaType(accept, ['application/json', ...STREAM_TYPES]) !== 'application/json' &&
  chooseMediaType(accept, ['application/json']) === undefined

/** Server-sent events, unless the caller prefers NDJSON (C-59). */
const formatFor = (accept: string | undefined): StreamFormat =>
  chooseMediaType(accept, STREAM_TYPES) === NDJSON.type ? NDJSON : EVENT_STREAM

function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: AsyncIterable<StreamPart>,
  format: StreamFormat,
): FastifyReply {
  const onError = (error: unknown): void => {
    const code = error instanceof DirectoryError ? error.code : undefined
    request.log[code === undefined ? 'error' : 'info']({ code, err: error }, 'a stream broke off')
  }
  // Proxies must not buffer parts.
  reply.header('content-type', `${format.type}; charset=utf-8`).header('x-accel-buffering', 'no')
  return reply.send(Readable.from(writeParts(parts, format, onError), { objectMode: false }))
}
