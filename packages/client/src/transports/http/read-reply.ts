import { EVENT_STREAM, isJsonType, isNdjsonType, mediaTypeOf } from '@switchboard/protocol/http'
import { ClientError } from '../../errors.js'
import type { Call, Reply } from '../call.js'
import type { Deadline } from '../deadline.js'
import { readBody, readJsonBytes } from '../read-body.js'

/** Reads a whole response: as JSON if its media type says so or is missing, else as bytes. */
export async function readReply(response: Response, call: Call, deadline: Deadline): Promise<Reply> {
  const type = mediaTypeOf(response.headers.get('content-type'))
  if (type === EVENT_STREAM.type || isNdjsonType(type)) {
    void response.body?.cancel().catch(() => {})
    throw new ClientError('bad_response', `${call.uri} responded with a stream: use streamAgent`)
  }
  const bytes = await readBody(response.body, call.limits.maxBytes, deadline)
  const output = isJsonType(type) || type === '' ? toJson(bytes) : bytes
  return { output, contentType: type || 'application/json', ...replyMetadata(response, call) }
}

const toJson = (bytes: Uint8Array): Reply['output'] =>
  bytes.byteLength === 0 ? null : readJsonBytes(bytes, 'the response')

/** The members of a reply that come from the headers. */
export function replyMetadata({ status, headers }: Response, call: Call): Omit<Reply, 'output' | 'contentType'> {
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

/** The warnings of a directory: quoted sentences, separated by commas. */
export const readWarnings = (headers: Headers): string[] =>
  Array.from((headers.get('x-switchboard-warnings') ?? '').matchAll(/"([^"]*)"/g), ([, text = '']) => text)
