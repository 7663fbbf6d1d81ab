import { isJsonType, type JsonValue, mediaTypeOf, parseJson } from '@switchboard/protocol'
import { AgentError } from '../errors.js'

/** Bytes of a body, at most so many. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): AgentError =>
    new AgentError('payload_too_large', `the body is larger than ${maxBytes} bytes: send large data by reference`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A JSON body; a request without one has an empty input. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<JsonValue> {
  const type = mediaTypeOf(request.headers.get('content-type'))
  if (type !== '' && !isJsonType(type)) {
    throw new AgentError('unsupported_media_type', `send the input as application/json, not as ${type}`, {
      headers: { 'accept-post': 'application/json' },
      members: { supported: ['application/json'] },
    })
  }
  const bytes = await readBytes(request, maxBytes)
  if (bytes.byteLength === 0) return {}
  if (type === '') throw new AgentError('unsupported_media_type', 'the body has no Content-Type: send application/json')
  return parseJson(decodeUtf8(bytes))
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new AgentError('invalid_input', 'the body is not UTF-8 text', { cause })
  }
}
