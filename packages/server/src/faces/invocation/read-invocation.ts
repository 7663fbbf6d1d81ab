import { MIMEType } from 'node:util'
import {
  chooseMediaType,
  DirectoryError,
  isJsonType,
  isObject,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  mediaTypeOf,
  parseJson,
  parseJsonBodyQuickly,
  prefersAsync,
  readIdempotencyKey,
  withoutMark,
} from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import type {
  CredentialsForAgent,
  FormFile,
  Input,
  Invocation,
  Places,
} from '../../services/calls/request/invocation.js'
import { waitForTurn } from '../../turns.js'
import { firstOf, headerOf, readQuery, takeBody } from '../read-request.js'

/** Headers that are forwarded to the agent unchanged: correlation, delegation, language, and the gateways so far. */
const FORWARDED = ['x-delegation-chain', 'traceparent', 'tracestate', 'accept-language', 'via']

/** An invocation without its input: what the URL and the headers say. A WebSocket has one head for all its calls. */
export type InvocationHead = Omit<Invocation, 'input' | 'spend' | 'onHeaders' | 'signal'>

/** Reads the head of an invocation from a request. */
export function readHead(request: FastifyRequest): InvocationHead {
  const params = isObject(request.params) ? request.params : {}
  const query = request.url.includes('?') ? readQuery(request) : undefined
  const { headers } = request
  const header = (name: string): string | undefined => firstOf(headers[name])
  const places = (headerName: string, queryName: string): Places => ({
    header: header(headerName),
    query: query?.get(queryName) ?? undefined,
  })
  const version = typeof params.version === 'string' ? params.version : undefined
  const operation = typeof params.operation === 'string' ? params.operation : undefined
  return {
    agent: String(params.id),
    caller: request.caller,
    // `/versions/{version}/invoke` is the unified URL, as `/invoke` is without a version (C-04).
    operation: version !== undefined && operation === 'invoke' ? undefined : operation,
    version: { path: version, ...places('x-agent-version', 'version') },
    session: places('x-session-id', 'sessionId'),
    task: places('x-task-id', 'taskId'),
    chooseMediaType: (offered) => chooseMediaType(headers.accept, offered),
    credentials: {
      agentApiKey: header('x-agent-api-key'),
      agentAuthorization: header('x-agent-authorization'),
      agentVariables: header('x-agent-variables'),
      ...directoryCredentials(request),
    },
    forwarded: forwardedHeaders(request),
    trace: request.trace,
    idempotencyKey: readIdempotencyKey(header('idempotency-key')),
    searchId: header('x-search-id'),
    defer: prefersAsync(header('prefer')),
    callbackUrl: header('x-callback-url'),
  }
}

function forwardedHeaders({ headers, trace }: FastifyRequest): Record<string, string> {
  const forwarded: Record<string, string> = {}
  for (const name of FORWARDED) {
    const value = firstOf(headers[name])
    if (value !== undefined) forwarded[name] = value
  }
  return trace ? { ...forwarded, ...trace.headers } : forwarded
}

/** X-API-Key is meant for the agent only if the caller authenticated to the directory in another way (C-96). */
function directoryCredentials(request: FastifyRequest): Pick<CredentialsForAgent, 'directorySecret' | 'apiKey'> {
  const { authorization } = request.headers
  const apiKey = headerOf(request, 'x-api-key')
  if (authorization === undefined) return { directorySecret: apiKey, apiKey: undefined }
  return { directorySecret: authorization.replace(/^Bearer +/i, ''), apiKey }
}

/**
 * The input: JSON, a form, or another media type that the operation may accept (C-66); `{}` without a body. A promise
 * only if there is something to wait for.
 */
export function readInput(request: FastifyRequest, limits: JsonLimits): Input | Promise<Input> {
  const body = takeBody(request)
  const contentType = request.headers['content-type'] ?? ''
  const type = mediaTypeOf(contentType)
  if (body.length === 0 && (type === '' || isJsonType(type))) {
    if (type === '') return { kind: 'json', value: {} }
    throw new DirectoryError('invalid_request', 'the body is empty: send the input as a JSON object')
  }
  if (isJsonType(type)) {
    const input: Input = { kind: 'json', value: parseJsonBodyQuickly(body, limits), text: withoutMark(body) }
    // The value is checked later: other requests get their turn before.
    const turn = waitForTurn()
    return turn ? turn.then(() => input) : input
  }
  return type === 'multipart/form-data' ? readForm(contentType, body, limits) : { kind: 'bytes', contentType, body }
}

/** Name of the part that is the input itself, as JSON (C-66). */
const INPUT_PART = 'input'

/** Most parts of a form: each costs many times its bytes. */
const MAX_PARTS = 100

/** Reads a form: the part `input` is the input, other text parts become its members, and files are kept apart. */
async function readForm(contentType: string, body: Buffer, limits: JsonLimits): Promise<Input> {
  const members: JsonObject = {}
  const files: FormFile[] = []
  let input: JsonValue = {}
  for (const [name, part] of await parseForm(contentType, body)) {
    if (name === INPUT_PART) input = parseJson(typeof part === 'string' ? part : await part.text(), limits)
    else if (typeof part === 'string') members[name] = part
    else files.push({ name, bytes: new Uint8Array(await part.arrayBuffer()) })
  }
  return { kind: 'form', value: withMembers(input, members), files, contentType, body }
}

async function parseForm(contentType: string, body: Buffer): Promise<FormData> {
  try {
    assertPartCount(contentType, body)
    return await new Response(body, { headers: { 'content-type': contentType } }).formData()
  } catch (cause) {
    if (cause instanceof DirectoryError) throw cause
    throw new DirectoryError('invalid_request', 'the body is not valid multipart/form-data', { cause })
  }
}

/** Counts parts by their boundaries, which is cheap, and stops at the limit. */
function assertPartCount(contentType: string, body: Buffer): void {
  const name = new MIMEType(contentType).params.get('boundary')
  if (name === null) return
  const boundary = `--${name}`
  // One more boundary is at the end.
  let left = MAX_PARTS + 1
  for (let at = body.indexOf(boundary); at >= 0; at = body.indexOf(boundary, at + boundary.length)) {
    if (left-- > 0) continue
    throw new DirectoryError(
      'payload_too_large',
      `the form has more than ${MAX_PARTS} parts, which is the limit: send the members together as JSON in the part "${INPUT_PART}", or several requests`,
    )
  }
}

const withMembers = (input: JsonValue, members: JsonObject): JsonValue =>
  isObject(input) ? { ...input, ...members } : input
