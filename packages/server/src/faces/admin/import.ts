import { Readable } from 'node:stream'
import { DirectoryError, type Face, isObject, type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { type ImportItem, type ImportResult, importAgent } from '../../services/import.js'

/** Documents under way at once: enough to share the store's fsyncs, few enough to stay small in memory. */
const AT_ONCE = 64
/** Bytes; a line is one document and what names it (C-76). */
const MAX_LINE = 300_000

const FACES: readonly string[] = ['aidip', 'profile', 'directory', 'descriptor', 'a2a', 'mcp'] satisfies Face[]

/** Reads NDJSON as it comes and answers with one result line for each line, in order. */
export function importStream(context: Context, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const source = request.body
  if (!(source instanceof Readable))
    throw new DirectoryError('invalid_request', 'the body is empty: send one JSON document a line')
  reply.header('content-type', 'application/x-ndjson; charset=utf-8')
  return reply.send(Readable.from(results(context, request, linesOf(source))))
}

async function* results(
  context: Context,
  request: FastifyRequest,
  lines: AsyncIterable<string>,
): AsyncGenerator<string> {
  const pending: Promise<string>[] = []
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    pending.push(importLine(context, request, line, number))
    const first = pending.length >= AT_ONCE ? pending.shift() : undefined
    if (first) yield await first
  }
  for (const rest of pending) yield await rest
}

async function importLine(context: Context, request: FastifyRequest, text: string, line: number): Promise<string> {
  const result = await importText(context, request, text)
  return `${JSON.stringify({ line, ...result })}\n`
}

async function importText(context: Context, request: FastifyRequest, text: string): Promise<ImportResult> {
  try {
    return await importAgent(context, toItem(parseJson(text)), request.caller)
  } catch (error) {
    if (error instanceof DirectoryError) return { status: 'failed', code: error.code, message: error.message }
    request.log.error({ err: error }, 'import failed')
    return { status: 'failed', code: 'internal_error', message: 'the directory failed on this line' }
  }
}

/** A line is a document, or an envelope {"document", "face"?, "id"?, "owner"?}. */
function toItem(value: JsonValue): ImportItem {
  if (!isObject(value)) throw new DirectoryError('invalid_request', 'the line must be a JSON object')
  return isObject(value.document) ? envelope(value, value.document) : { document: value }
}

function envelope({ face, id, owner }: JsonObject, document: JsonObject): ImportItem {
  if (face !== undefined && !isFace(face)) {
    throw new DirectoryError('invalid_request', `/face must be one of ${FACES.join(', ')}`)
  }
  return {
    document,
    ...(isFace(face) && { face }),
    ...(typeof id === 'string' && { id }),
    ...(typeof owner === 'string' && { owner }),
  }
}

const isFace = (value: JsonValue | undefined): value is Face => typeof value === 'string' && FACES.includes(value)

async function* linesOf(source: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of source) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
    if (rest.length > MAX_LINE)
      throw new DirectoryError('payload_too_large', `a line is longer than ${MAX_LINE} characters`)
  }
  yield rest + decoder.decode()
}
