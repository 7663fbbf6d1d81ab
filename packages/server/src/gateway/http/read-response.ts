import { Readable } from 'node:stream'
import {
  isJsonType,
  isNdjsonType,
  type JsonValue,
  mediaTypeOf,
  type PartBatches,
  readAcceptedTask,
  readPollInterval,
  readProgress,
  withoutMark,
} from '@switchboard/protocol'
import { waitForTurn } from '../../turns.js'
import { type AgentCall, type AgentResponse, type AgentTask, type Endpoint, GatewayError } from '../gateway.js'
import type { GatewayOptions } from '../gateway-options.js'
import { observeStream } from './observe-stream.js'
import { decodeText, parseResponseJson, readEventParts, readLineParts } from './read-stream.js'
import { limitBytes, type ResponseBody, tooLarge } from './response-body.js'
import { forwardedHeaders } from './response-headers.js'
import type { HttpResponse } from './send-request.js'

/** Larger error bodies are ignored: an error object is small. */
const MAX_ERROR_BYTES = 64 * 1024

/** Size limits of a response. */
export type ResponseLimits = Pick<GatewayOptions, 'maxBodyBytes' | 'maxPartBytes' | 'maxResponseValues'>

/** Where a response comes from, and how large it may be. */
interface ResponseSource {
  readonly endpoint: Endpoint
  readonly url: URL
  readonly limits: ResponseLimits
}

/** Reads an HTTP response of an agent: JSON, a stream, bytes, or an accepted task. A promise only if there is something to wait for. */
export function readResponse(
  response: HttpResponse,
  call: Pick<AgentCall, 'wantsStream'>,
  source: ResponseSource,
): AgentResponse | Promise<AgentResponse> {
  const { endpoint, url, limits } = source
  rejectUnsupported(response)
  const { status, headers: received, body } = response
  // A 304 refers to a cached response, and calls have none.
  if (status === 304) {
    body.cancel()
    const message = 'the agent sent 304 although the request was not conditional'
    throw new GatewayError('bad_response', message, { mayHaveRun: true })
  }
  const base = { status, headers: forwardedHeaders(received, { status, url }), endpoint }
  if (status >= 400) return readError(response, limits).then((value) => ({ kind: 'json', value, ...base }))

  const type = mediaTypeOf(received['content-type'])
  const streamed = (batches: PartBatches): AgentResponse => {
    body.limitSilence?.()
    return { kind: 'stream', batches: observeStream(batches, { onCancel: () => body.cancel() }), ...base }
  }
  if (type === 'text/event-stream') return streamed(readEventParts(body, limits))
  if (isNdjsonType(type)) return streamed(readLineParts(body, limits))
  if (type !== '' && !isJsonType(type)) {
    body.limitSilence?.()
    const bytes = observeStream(limitBytes(body, limits.maxBodyBytes), { onCancel: () => body.cancel() })
    const readable = Readable.from(bytes, { objectMode: false })
    return { kind: 'bytes', contentType: received['content-type'] ?? type, body: readable, ...base }
  }
  if (call.wantsStream && status !== 202 && received['content-length'] === undefined) {
    return readFirstLine(body, limits).then((read) =>
      read.isNdjson ? streamed(read.batches) : { kind: 'json', value: jsonOf(read.bytes, limits), ...base },
    )
  }
  const parse = (bytes: Uint8Array): AgentResponse | Promise<AgentResponse> => {
    const value = jsonOf(bytes, limits)
    const task = status === 202 ? taskOf(value, received, url) : undefined
    const read: AgentResponse = task
      ? { kind: 'task', task, ...base }
      : { kind: 'json', value, text: textOf(bytes), ...base }
    // The value is checked later: others get their turn before.
    const turn = waitForTurn()
    return turn ? turn.then(() => read) : read
  }
  const collected = body.collect(limits.maxBodyBytes)
  return collected instanceof Promise ? collected.then(parse) : parse(collected)
}

/** Throws for a redirect, which could bypass the address guard, and for compression, which was not requested. */
export function rejectUnsupported(response: HttpResponse): void {
  const { status } = response
  if (isRedirect(status)) {
    reject(response, `the agent redirects (${status}), and redirects are not followed: register the final URL`)
  }
  rejectCompressed(response)
}

export function rejectCompressed(response: HttpResponse): void {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return
  reject(response, `the agent uses the content encoding ${encoding.slice(0, 20)}, which was not requested`)
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304

function reject({ body }: HttpResponse, problem: string): never {
  body.cancel()
  throw new GatewayError('bad_response', problem, { mayHaveRun: true })
}

/** An empty body is `null`. */
const jsonOf = (bytes: Uint8Array, { maxResponseValues }: Pick<ResponseLimits, 'maxResponseValues'>): JsonValue =>
  bytes.length === 0 ? null : parseResponseJson(decodeText(bytes), maxResponseValues)

/** An empty body is no JSON text. */
const textOf = (bytes: Uint8Array): Uint8Array | undefined => (bytes.length === 0 ? undefined : withoutMark(bytes))

/** The body of an error if it is valid JSON, else `null`: the status alone is a response too. */
async function readError({ headers, body }: HttpResponse, limits: ResponseLimits): Promise<JsonValue> {
  if (!isJsonType(mediaTypeOf(headers['content-type']))) {
    body.cancel()
    return null
  }
  try {
    return jsonOf(await body.collect(MAX_ERROR_BYTES), limits)
  } catch (error) {
    if (error instanceof GatewayError && (error.code === 'bad_response' || error.code === 'too_large')) return null
    throw error
  }
}

/** Reads the task of a 202, or of a task document. */
export function taskOf(body: JsonValue, headers: Readonly<Record<string, string>>, url: URL): AgentTask | undefined {
  const header = (name: string): string | undefined => headers[name]
  const task = readAcceptedTask({ body, header, url: url.href }, otherOrigin)
  const pollInterval = readPollInterval({ body, header }, Date.now)
  const progress = readProgress(body)
  return task && { ...task, ...(pollInterval && { pollInterval }), ...(progress && { progress }) }
}

const otherOrigin = (): GatewayError =>
  new GatewayError('bad_response', 'the URL of the task is not at the origin of the agent', { mayHaveRun: true })

/**
 * A body of unknown length may be NDJSON even if its media type is plain JSON (AIDIP 01 §5.3): it is if its first line
 * is complete JSON by itself.
 */
async function readFirstLine(
  body: ResponseBody,
  limits: ResponseLimits,
): Promise<
  { readonly isNdjson: false; readonly bytes: Uint8Array } | { readonly isNdjson: true; readonly batches: PartBatches }
> {
  const { maxBodyBytes } = limits
  const iterator = body[Symbol.asyncIterator]()
  const rest = { [Symbol.asyncIterator]: () => iterator }
  const chunks: Uint8Array[] = []
  let size = 0
  let isFirstLine = true
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    chunks.push(next.value)
    size += next.value.length
    if (size > maxBodyBytes) {
      body.cancel()
      throw tooLarge(maxBodyBytes)
    }
    if (!isFirstLine || !next.value.includes(NEWLINE)) continue
    const start = Buffer.concat(chunks, size)
    isFirstLine = false
    if (isCompleteJson(start.subarray(0, start.indexOf(NEWLINE)), limits)) {
      return { isNdjson: true, batches: readLineParts(rest, limits, start) }
    }
  }
  return { isNdjson: false, bytes: Buffer.concat(chunks, size) }
}

const NEWLINE = 0x0a

function isCompleteJson(line: Uint8Array, limits: ResponseLimits): boolean {
  try {
    jsonOf(line, limits)
    return line.length > 0
  } catch (error) {
    if (error instanceof GatewayError) return false
    throw error
  }
}
