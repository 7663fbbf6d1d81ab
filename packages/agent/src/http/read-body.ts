import { isJsonType, type JsonValue, mediaTypeOf, parseJsonBody, readBytes } from '@switchboard/protocol'
import { AgentError } from '../errors.js'

/** Reads a JSON body of at most `maxBytes` bytes; the input of a request without a body is empty. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<JsonValue> {
  const type = mediaTypeOf(request.headers.get('content-type'))
  if (type !== '' && !isJsonType(type)) {
    throw new AgentError('unsupported_media_type', `send the input as application/json, not as ${type}`, {
      headers: { 'accept-post': 'application/json' },
      members: { supported: ['application/json'] },
    })
  }
  const tooLarge = (): AgentError =>
    new AgentError('payload_too_large', `the body is larger than ${maxBytes} bytes: send large data by reference`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const bytes = request.body && (await readBytes(request.body, maxBytes, tooLarge))
  if (!bytes || bytes.byteLength === 0) return {}
  if (type === '') throw new AgentError('unsupported_media_type', 'the body has no Content-Type: send application/json')
  return parseJsonBody(bytes)
}
