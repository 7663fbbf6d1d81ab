import { DirectoryError, invalid, isObject, parseJson } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import type { Input, Invocation, Places } from '../../services/calls/request/invocation.js'
import { chooseType } from '../accept.js'
import { decodeUtf8 } from '../body.js'
import { readQuery } from '../read-request.js'
import { headerOf } from '../respond.js'
import { readForm } from './read-form.js'

/** Headers that go on to the agent as they came: correlation, delegation, language, and the way the call has come. */
const PASSED = ['x-delegation-chain', 'traceparent', 'tracestate', 'accept-language', 'via']

/** Everything about a call but its input: what the URL and the headers say. */
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
    // Below a version the unified URL has the same last word as elsewhere (C-04).
    operation: version !== undefined && operation === 'invoke' ? undefined : operation,
    version: { ...places('x-agent-version', 'version'), path: version },
    session: places('x-session-id', 'sessionId'),
    task: places('x-task-id', 'taskId'),
    choose: (offered) => chooseType(request.headers.accept, offered),
    credentials: {
      ...ofDirectory(request),
      agentApiKey: header('x-agent-api-key'),
      agentAuthorization: header('x-agent-authorization'),
    },
    passed: passedOf(request),
    idempotencyKey: readKey(header('idempotency-key')),
    defer: /(^|,)\s*respond-async\s*(;|,|$)/i.test(header('prefer') ?? ''),
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

/** X-API-Key is for the agent only where something else was shown to the directory (C-96). */
function ofDirectory(request: FastifyRequest): { ours: string | undefined; apiKey: string | undefined } {
  const { authorization } = request.headers
  const apiKey = headerOf(request, 'x-api-key')
  if (authorization === undefined) return { ours: apiKey, apiKey: undefined }
  return { ours: authorization.replace(/^Bearer +/i, ''), apiKey }
}

export function readKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw invalid([{ at: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
}

/** The input: JSON, a form, or whatever else the operation may take (C-66). A call without a body has an empty one. */
export async function readInput(request: FastifyRequest): Promise<Input> {
  const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
  const contentType = request.headers['content-type'] ?? ''
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (body.length === 0 && (type === '' || isJson(type))) {
    if (type === '') return { kind: 'json', value: {} }
    throw new DirectoryError('invalid_request', 'the body is empty: send the input as a JSON object')
  }
  if (isJson(type)) return { kind: 'json', value: parseJson(decodeUtf8(body)) }
  return type === 'multipart/form-data' ? readForm(contentType, body) : { kind: 'bytes', contentType, body }
}

const isJson = (type: string): boolean => /^application\/([\w.+-]+\+)?json$/.test(type)
