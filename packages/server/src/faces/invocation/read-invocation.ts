import {
  chooseMediaType,
  DirectoryError,
  isJsonType,
  isObject,
  mediaTypeOf,
  parseJsonBody,
  prefersAsync,
  readIdempotencyKey,
} from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import type { Input, Invocation, Places } from '../../services/calls/request/invocation.js'
import { readQuery } from '../read-request.js'
import { headerOf } from '../respond.js'
import { readForm } from './read-form.js'

/** Headers that are forwarded to the agent unchanged: correlation, delegation, language, and the gateways so far. */
const PASSED = ['x-delegation-chain', 'traceparent', 'tracestate', 'accept-language', 'via']

/** Everything about a call except its input, from the URL and the headers. */
export function readEnvelope(request: FastifyRequest): Omit<Invocation, 'input' | 'spend' | 'signal'> {
  const params = isObject(request.params) ? request.params : {}
  const query = readQuery(request)
  const header = (name: string): string | undefined => headerOf(request, name)
  const places = (headerName: string, queryName: string): Places => ({
    header: header(headerName),
    query: query.get(queryName) ?? undefined,
  })
  const version = typeof params.version === 'string' ? params.version : undefined
  const operation = typeof params.operation === 'string' ? params.operation : undefined
  return {
    agent: String(params.id),
    caller: request.caller,
    // `/versions/{version}/invoke` is the unified URL, as `/invoke` is without a version (C-04).
    operation: version !== undefined && operation === 'invoke' ? undefined : operation,
    version: { ...places('x-agent-version', 'version'), path: version },
    session: places('x-session-id', 'sessionId'),
    task: places('x-task-id', 'taskId'),
    choose: (offered) => chooseMediaType(request.headers.accept, offered),
    credentials: {
      ...ofDirectory(request),
      agentApiKey: header('x-agent-api-key'),
      agentAuthorization: header('x-agent-authorization'),
    },
    passed: passedOf(request),
    idempotencyKey: readIdempotencyKey(header('idempotency-key')),
    defer: prefersAsync(header('prefer')),
    callbackUrl: header('x-callback-url'),
  }
}

function passedOf(request: FastifyRequest): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name of PASSED) {
    const value = headerOf(request, name)
    if (value !== undefined) passed[name] = value
  }
  return passed
}

/** X-API-Key is meant for the agent only if the caller authenticated to the directory in another way (C-96). */
function ofDirectory(request: FastifyRequest): { ours: string | undefined; apiKey: string | undefined } {
  const { authorization } = request.headers
  const apiKey = headerOf(request, 'x-api-key')
  if (authorization === undefined) return { ours: apiKey, apiKey: undefined }
  return { ours: authorization.replace(/^Bearer +/i, ''), apiKey }
}

/** The input: JSON, a form, or another media type that the operation may accept (C-66); `{}` without a body. */
export async function readInput(request: FastifyRequest): Promise<Input> {
  const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
  const contentType = request.headers['content-type'] ?? ''
  const type = mediaTypeOf(contentType)
  if (body.length === 0 && (type === '' || isJsonType(type))) {
    if (type === '') return { kind: 'json', value: {} }
    throw new DirectoryError('invalid_request', 'the body is empty: send the input as a JSON object')
  }
  if (isJsonType(type)) return { kind: 'json', value: parseJsonBody(body) }
  return type === 'multipart/form-data' ? readForm(contentType, body) : { kind: 'bytes', contentType, body }
}
