import { ClientError } from '../../errors.js'
import type { Call, Reply } from '../call.js'
import type { Deadline } from '../deadline.js'
import { decodeUtf8, readBytes, readJsonText } from '../read-body.js'
import { isJsonType, mediaTypeOf } from './exchange.js'

export const EVENT_STREAM = 'text/event-stream'
const NDJSON_TYPES = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
])

export const isNdjson = (type: string): boolean => NDJSON_TYPES.has(type)

/** A whole answer: JSON where it says so or says nothing, bytes otherwise. */
export async function readReply(response: Response, call: Call, deadline: Deadline): Promise<Reply> {
  const type = mediaTypeOf(response)
  if (type === EVENT_STREAM || isNdjson(type)) {
    void response.body?.cancel().catch(() => {})
    throw new ClientError('bad_response', `${call.uri} answers with a stream: use streamAgent`)
  }
  const bytes = await readBytes(response.body, call.limits.maxBytes, deadline)
  const output = isJsonType(type) || type === '' ? toJson(bytes) : bytes
  return { output, contentType: type || 'application/json', ...factsOf(response, call) }
}

const toJson = (bytes: Uint8Array): Reply['output'] =>
  bytes.byteLength === 0 ? null : readJsonText(decodeUtf8(bytes), 'the answer')

/** What the headers say of the answer. */
export function factsOf({ status, headers }: Response, call: Call): Omit<Reply, 'output' | 'contentType'> {
  const version = headers.get('x-agent-version')
  const requestId = headers.get('x-request-id') ?? call.identifiers.requestId
  const sessionId = headers.get('x-session-id') ?? call.identifiers.sessionId
  const taskId = headers.get('x-task-id') ?? call.identifiers.taskId
  const outputValid = headers.get('x-output-valid')
  return {
    status,
    trusted: false,
    ...(version !== null && { version }),
    ...(requestId !== undefined && { requestId }),
    ...(sessionId !== undefined && { sessionId }),
    ...(taskId !== undefined && { taskId }),
    ...(outputValid !== null && { outputValid: outputValid !== 'false' }),
    warnings: readWarnings(headers),
  }
}

/** Warnings of a directory: quoted sentences on one line, with commas between them. */
export const readWarnings = (headers: Headers): string[] =>
  Array.from((headers.get('x-switchboard-warnings') ?? '').matchAll(/"([^"]*)"/g), ([, text = '']) => text)
