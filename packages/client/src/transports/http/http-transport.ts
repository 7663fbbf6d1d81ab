import { EVENT_STREAM, isJsonType, isNdjsonType, mediaTypeOf, NDJSON, type StreamPart } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call, Reply, Transport } from '../call.js'
import { type Credential, credentialHeader } from '../credential.js'
import { createDeadline, type Deadline } from '../deadline.js'
import { awaitTask } from './await-task.js'
import { Challenge, exchange, type HttpDeps, type HttpRequest, readJsonBody } from './exchange.js'
import { readEvents, readNdjson } from './read-events.js'
import { readReply } from './read-reply.js'

const JSON_TYPE = 'application/json'
/** Prefers server-sent events, which pass all proxies and browsers (C-59); an agent may also respond with plain JSON. */
const ACCEPT_STREAM = `${EVENT_STREAM.type}, ${NDJSON.type};q=0.9, ${JSON_TYPE};q=0.5`

/** Calls over HTTP: `https`, loopback `http`, and with a special `fetch` also Unix sockets. */
export function createHttpTransport(deps: HttpDeps): Transport {
  return {
    async invoke(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the call of ${call.uri}`, call.signal)
      try {
        const { response, headers } = await send(deps, call, call.accept.join(', ') || JSON_TYPE, deadline)
        if (response.status === 202) return await awaitTask(deps, call, response, taskHeaders(headers), deadline)
        return await readReply(response, call, deadline)
      } finally {
        deadline.clear()
      }
    },
    async *stream(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the stream of ${call.uri}`, call.signal)
      try {
        const { response, headers } = await send(deps, call, call.accept.join(', ') || ACCEPT_STREAM, deadline)
        if (response.status === 202) {
          yield toPart(await awaitTask(deps, call, response, taskHeaders(headers), deadline))
        } else yield* readParts(response, call, deadline)
      } finally {
        deadline.clear()
      }
    },
  }
}

interface Exchange {
  readonly response: Response
  readonly headers: Readonly<Record<string, string>>
}

/** Sends a call. After a 401 it tries once more, with the credential for the challenge. */
async function send(deps: HttpDeps, call: Call, accept: string, deadline: Deadline): Promise<Exchange> {
  const attempt = async (credential: Credential | undefined): Promise<Exchange> => {
    const headers = headersOf(call, accept, credential)
    return { response: await exchange(deps, requestOf(call, headers), deadline), headers }
  }
  try {
    return await attempt(call.credential)
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 401 || !call.renewCredential) throw error
    const challenge = error.cause instanceof Challenge ? error.cause.message : undefined
    const credential = await deadline.race(call.renewCredential(challenge))
    if (credential === undefined) throw error
    return attempt(credential)
  }
}

function requestOf(call: Call, headers: Record<string, string>): HttpRequest {
  const { method, url, input } = call
  const isRepeatable = call.repeatable || call.identifiers.idempotencyKey !== undefined
  if (method === 'GET' || input === undefined) return { method, url, headers, isRepeatable }
  const body = input instanceof Uint8Array || input instanceof FormData ? input : JSON.stringify(input)
  return { method, url, headers, body, isRepeatable }
}

function headersOf(call: Call, accept: string, credential: Credential | undefined): Record<string, string> {
  const { sessionId, taskId, version, requestId, idempotencyKey, delegationChain } = call.identifiers
  const type = contentTypeOf(call)
  return {
    ...call.headers,
    accept,
    ...(type !== undefined && { 'content-type': type }),
    ...(sessionId !== undefined && { 'x-session-id': sessionId }),
    ...(taskId !== undefined && { 'x-task-id': taskId }),
    ...(version !== undefined && { 'x-agent-version': version }),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(delegationChain !== undefined && { 'x-delegation-chain': delegationChain }),
    ...credentialHeader(credential),
  }
}

/** `fetch` sets the type of a form itself, with the boundary. */
function contentTypeOf({ method, input, contentType }: Call): string | undefined {
  if (method === 'GET' || input === undefined || input instanceof FormData) return undefined
  return contentType ?? (input instanceof Uint8Array ? 'application/octet-stream' : JSON_TYPE)
}

/** Headers for polling a task: without those that describe the body or apply to the call itself. */
function taskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { 'content-type': _type, 'idempotency-key': _key, prefer: _prefer, ...rest } = headers
  return { ...rest, accept: JSON_TYPE }
}

async function* readParts(
  response: Response,
  call: Call,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  const type = mediaTypeOf(response.headers.get('content-type'))
  if (type === EVENT_STREAM.type) yield* readEvents(response.body, call.limits, deadline)
  else if (isNdjsonType(type)) yield* readNdjson(response.body, call.limits, deadline)
  else if (isJsonType(type) || type === '') yield { data: await readJsonBody(response, call.limits.maxBytes, deadline) }
  else {
    void response.body?.cancel().catch(() => {})
    throw new ClientError('bad_response', `${call.uri} responded with ${type}, which is not a stream: use invokeAgent`)
  }
}

function toPart({ output, contentType }: Reply): StreamPart {
  if (output instanceof Uint8Array)
    throw new ClientError('bad_response', `a part of a stream must be JSON, not ${contentType}`)
  return { data: output }
}
