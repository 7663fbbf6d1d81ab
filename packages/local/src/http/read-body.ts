import type { IncomingMessage } from 'node:http'
import { DirectoryError, isObject, type JsonObject, parseJson } from '@switchboard/protocol'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'

/** The whole body of a request, if it is not too long. */
export async function readBody(message: IncomingMessage): Promise<Buffer> {
  const tooLarge = new LocalError('too_large', `a body may have ${LIMITS.bodyBytes} bytes`)
  if (Number(message.headers['content-length'] ?? 0) > LIMITS.bodyBytes) throw tooLarge
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) continue
    size += chunk.length
    if (size > LIMITS.bodyBytes) throw tooLarge
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The body as a JSON object, strictly read. */
export async function readJsonObject(message: IncomingMessage): Promise<JsonObject> {
  requireJson(message)
  const value = parse((await readBody(message)).toString('utf8'))
  if (!isObject(value)) throw new LocalError('invalid_input', 'the body must be a JSON object')
  return value
}

function parse(text: string) {
  try {
    return parseJson(text)
  } catch (cause) {
    if (!(cause instanceof DirectoryError)) throw cause
    throw new LocalError('invalid_input', cause.message, { cause })
  }
}

/**
 * Refuses bodies that are not declared to be JSON. Those are what a form or a plain script of any page can send
 * without the browser's asking first.
 */
export function requireJson({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new LocalError('unsupported_media_type', 'send JSON: content-type must be application/json')
  }
}

/** A member that must be a text which says something. */
export function textIn(body: JsonObject, name: string): string {
  const value = body[name]
  if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT) return value
  throw new LocalError('invalid_input', `/${name} must be a text of 1 to ${MAX_TEXT} characters`)
}

const MAX_TEXT = 2000
