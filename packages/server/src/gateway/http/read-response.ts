import { Readable } from 'node:stream'
import {
  asString,
  isJsonType,
  isNdjsonType,
  isObject,
  type JsonValue,
  mediaTypeOf,
  readRetryAfter,
  type StreamPart,
} from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type AgentTask, type Endpoint, GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import { decodeWhole, parseAnswer, readEvents, readLines } from './read-stream.js'
import { limitBytes, type ResponseBody } from './response-body.js'
import type { HttpResponse } from './send-request.js'
import { withCleanup } from './with-cleanup.js'

/** Headers of an agent that say something about its answer and nothing about its host. */
const PASSED_ON: readonly string[] = [
  'content-disposition',
  'content-language',
  'location',
  'retry-after',
  'www-authenticate',
  'x-agent-version',
  'x-request-id',
  'x-session-id',
  'x-task-id',
]

/** Larger bodies of errors are not worth reading: an error object is small. */
const MAX_ERROR_BYTES = 64 * 1024

export type ResponseLimits = Pick<GatewayOptions, 'maxBodyBytes' | 'maxPartBytes'>

/** Reads an HTTP answer of an agent as what it is: JSON, a stream, bytes, or a task that goes on. */
export async function readResponse(
  answer: HttpResponse,
  call: AgentCall,
  { endpoint, url, limits }: { endpoint: Endpoint; url: URL; limits: ResponseLimits },
): Promise<AgentResponse> {
  refuseDetours(answer)
  const { status, headers: received, body } = answer
  // 304 refers to what the caller has, and a call has nothing.
  if (status === 304) {
    body.cancel()
    throw new GatewayError('bad_response', 'the agent answers 304 to what is no conditional request', {
      mayHaveRun: true,
    })
  }
  const told = { status, headers: passedOn(received, url), endpoint }
  if (status >= 400) return { ...told, kind: 'json', value: await readError(answer) }

  const type = mediaTypeOf(received['content-type'])
  const streamed = (parts: AsyncGenerator<StreamPart, void>): AgentResponse => ({
    ...told,
    kind: 'stream',
    parts: withCleanup(parts, body.cancel),
  })
  if (type === 'text/event-stream') return streamed(readEvents(body, limits.maxPartBytes))
  if (isNdjsonType(type)) return streamed(readLines(body, limits.maxPartBytes))
  if (type !== '' && !isJsonType(type)) {
    const bytes = Readable.from(withCleanup(limitBytes(body, limits.maxBodyBytes), body.cancel), { objectMode: false })
    return { ...told, kind: 'bytes', contentType: received['content-type'] ?? type, body: bytes }
  }
  if (call.wantsStream && status !== 202 && received['content-length'] === undefined) {
    const begun = await readUntilLine(body, limits.maxBodyBytes)
    if (begun.isLine) return streamed(begun.parts(limits.maxPartBytes))
    return { ...told, kind: 'json', value: jsonOf(begun.bytes) }
  }
  const value = jsonOf(await body.collect(limits.maxBodyBytes))
  const task = status === 202 ? taskOf(value, received, url) : undefined
  return task ? { ...told, kind: 'task', task } : { ...told, kind: 'json', value }
}

/** Throws for a redirect, which could lead past the guard, and for what was not asked for: compression. */
export function refuseDetours({ status, headers, body }: HttpResponse): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  const problem =
    status >= 300 && status < 400 && status !== 304
      ? `the agent redirects (${status}), and redirects are not followed: register the final address`
      : encoding !== 'identity'
        ? `the agent answers in the encoding ${encoding.slice(0, 20)}, which was not asked for`
        : undefined
  if (problem === undefined) return
  body.cancel()
  throw new GatewayError('bad_response', problem, { mayHaveRun: true })
}

/** An empty body is `null`: there is nothing that an output schema could hold against it. */
const jsonOf = (bytes: Uint8Array): JsonValue => (bytes.length === 0 ? null : parseAnswer(decodeWhole(bytes)))

/** The body of an error if it is JSON; whatever else is wrong with it, the status is the answer. */
async function readError({ headers, body }: HttpResponse): Promise<JsonValue> {
  if (!isJsonType(mediaTypeOf(headers['content-type']))) {
    body.cancel()
    return null
  }
  try {
    return jsonOf(await body.collect(MAX_ERROR_BYTES))
  } catch (error) {
    if (error instanceof GatewayError && (error.code === 'bad_response' || error.code === 'too_large')) return null
    throw error
  }
}

function passedOn(received: Readonly<Record<string, string>>, url: URL): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of PASSED_ON) {
    const value = received[name]
    if (value !== undefined) headers[name] = value
  }
  if (headers.location !== undefined && URL.canParse(headers.location, url.href)) {
    headers.location = new URL(headers.location, url).href
  }
  return headers
}

/** A task that the agent took on, if the answer names one (AURI §8: a task id, where to ask, and how often). */
export function taskOf(value: JsonValue, headers: Readonly<Record<string, string>>, url: URL): AgentTask | undefined {
  const members = isObject(value) ? value : {}
  const location = headers.location !== undefined && URL.canParse(headers.location, url.href)
  const told = asString(members.taskId) ?? asString(members.task_id) ?? asString(members.id)
  if (told === undefined && !location) return undefined
  const at = location ? new URL(headers.location ?? '', url) : new URL(`/tasks/${encodeURIComponent(told ?? '')}`, url)
  // The agent's credential goes with each question, so it must stay with the agent.
  if (at.origin !== url.origin) {
    throw new GatewayError('bad_response', 'the agent names a task at another address than its own', {
      mayHaveRun: true,
    })
  }
  const interval = members.pollInterval ?? readRetryAfter(headers['retry-after'], Date.now)
  return {
    id: told ?? at.pathname.split('/').at(-1) ?? '',
    status: asString(members.status) ?? 'running',
    url: at.href,
    ...(typeof interval === 'number' && interval > 0 && { pollInterval: interval }),
  }
}

/**
 * A body without a known length may be JSON line by line, under the plain media type too (AIDIP 01 §5.3). It is, if its
 * first line is whole JSON by itself.
 */
async function readUntilLine(
  body: ResponseBody,
  maxBytes: number,
): Promise<
  | { readonly isLine: false; readonly bytes: Buffer }
  | { readonly isLine: true; parts(maxPartBytes: number): AsyncGenerator<StreamPart, void> }
> {
  const iterator = body[Symbol.asyncIterator]()
  const rest = { [Symbol.asyncIterator]: () => iterator }
  const pieces: Buffer[] = []
  let size = 0
  let isOpen = true
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    pieces.push(next.value)
    size += next.value.length
    if (size > maxBytes) {
      body.cancel()
      throw new GatewayError('too_large', `the answer is larger than ${maxBytes} bytes`, { mayHaveRun: true })
    }
    if (!isOpen || !next.value.includes(0x0a)) continue
    const begun = Buffer.concat(pieces, size)
    isOpen = false
    if (isWhole(begun.subarray(0, begun.indexOf(0x0a)))) {
      return { isLine: true, parts: (maxPartBytes) => readLines(rest, maxPartBytes, begun) }
    }
  }
  return { isLine: false, bytes: Buffer.concat(pieces, size) }
}

function isWhole(line: Buffer): boolean {
  try {
    jsonOf(line)
    return line.length > 0
  } catch (error) {
    if (error instanceof GatewayError) return false
    throw error
  }
}
