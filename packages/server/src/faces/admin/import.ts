import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import {
  createByteLineSplitter,
  DirectoryError,
  DOCUMENT_FORMATS,
  type DocumentFormat,
  type Issue,
  invalid,
  isCatalog,
  isObject,
  type JsonObject,
  type JsonValue,
  NDJSON,
  parseDocumentBody,
  readCatalogEntry,
  subjectProblem,
  withEntry,
  writeLine,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DOCUMENT_LIMITS } from '../../policy/document-limits.js'
import type { Context } from '../../services/context.js'
import { type ImportItem, type ImportResult, importAgent } from '../../services/registry/import-agent.js'
import { waitForTurn } from '../../turns.js'

/** Documents in flight: enough to share the store's fsyncs, few enough that applying a batch takes a few milliseconds. */
const CONCURRENCY = 128
/** Bytes of the documents in flight, to keep memory small. */
const MAX_IN_FLIGHT = 8 * 1024 * 1024
/** Bytes; a document and its envelope (C-76). */
const MAX_LINE = 300_000
/** Takes the place of a line over the limit. */
const TOO_LONG = Symbol('too long')
type Line = Uint8Array | typeof TOO_LONG

/** Reads NDJSON as it arrives and writes one result for each line, in order. */
export function importStream(context: Context, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const source = request.body
  if (!(source instanceof Readable))
    throw new DirectoryError('invalid_request', 'the body is empty: send one JSON document per line')
  reply.header('content-type', `${NDJSON.type}; charset=utf-8`)
  return reply.send(Readable.from(results(context, request, linesOf(source))))
}

/** Agents in one chunk; the event loop runs between chunks. */
const EXPORT_CHUNK = 50

/** Writes the documents of all own agents as `importStream` reads them, in registration order; copies from peers stay out. */
export function exportStream({ catalog }: Context, reply: FastifyReply): FastifyReply {
  const ids = [...catalog.index.select({ conditions: [], view: ({ record }) => record })]
    .filter(({ stored }) => stored.marks.origin === undefined)
    .toSorted((a, b) => a.number - b.number)
    .map(({ record }) => record.id)
  const lines = async function* (): AsyncGenerator<string> {
    for (let at = 0; at < ids.length; at += EXPORT_CHUNK) {
      const agents = ids.slice(at, at + EXPORT_CHUNK).flatMap((id) => catalog.get(id) ?? [])
      await setImmediate()
      yield agents
        .map(({ stored: { id, format, owner, document } }) => writeLine({ id, format, owner, document }))
        .join('')
    }
  }
  reply.header('content-type', `${NDJSON.type}; charset=utf-8`).header('x-total-count', String(ids.length))
  return reply.send(Readable.from(lines()))
}

/** A line that is being imported; `result` is set when it is done. */
interface Pending {
  readonly bytes: number
  readonly done: Promise<void>
  result?: string
}

async function* results(context: Context, request: FastifyRequest, lines: AsyncIterable<Line>): AsyncGenerator<string> {
  let pending: Pending[] = []
  let inFlight = 0

  /** The results of the first line and of those after it that are done: one chunk for all. */
  const takeResults = async (): Promise<string> => {
    await pending[0]?.done
    const end = pending.findIndex(({ result }) => result === undefined)
    const taken = end < 0 ? pending : pending.slice(0, end)
    pending = end < 0 ? [] : pending.slice(end)
    for (const { bytes } of taken) inFlight -= bytes
    return taken.map(({ result }) => result).join('')
  }

  let number = 0
  for await (const line of lines) {
    number++
    if (line !== TOO_LONG && isBlank(line)) continue
    const turn = waitForTurn()
    if (turn) await turn
    const bytes = line === TOO_LONG ? 0 : line.length
    inFlight += bytes
    pending.push(importLine(context, request, line, number, bytes))
    if (pending.length >= CONCURRENCY || inFlight > MAX_IN_FLIGHT) yield await takeResults()
  }
  while (pending.length > 0) yield await takeResults()
}

function importLine(context: Context, request: FastifyRequest, line: Line, number: number, bytes: number): Pending {
  const pending: Pending = {
    bytes,
    done: importBytes(context, request, line).then((result) => {
      pending.result = writeLine({ line: number, ...result })
    }),
  }
  return pending
}

async function importBytes(context: Context, request: FastifyRequest, bytes: Line): Promise<ImportResult> {
  try {
    if (bytes === TOO_LONG) throw new DirectoryError('payload_too_large', `the line is longer than ${MAX_LINE} bytes`)
    return await importAgent(
      context,
      toItem(parseDocumentBody(bytes, { maxValues: DOCUMENT_LIMITS.values })),
      request.caller,
    )
  } catch (error) {
    if (error instanceof DirectoryError) return { status: 'failed', code: error.code, message: error.message }
    request.log.error({ err: error }, 'import failed')
    return { status: 'failed', code: 'internal_error', message: 'internal error on this line' }
  }
}

/** A line is a document, an entry of a catalog, or an envelope {"document", "format"?, "id"?, "owner"?}; `face` is the older name of `format`. */
function toItem(value: JsonValue): ImportItem {
  if (!isObject(value)) throw new DirectoryError('invalid_request', 'the line must be a JSON object')
  if (!Object.hasOwn(value, 'document'))
    return isCatalog(value) ? refuseCatalog() : (ofCatalogEntry(value) ?? { document: value })
  if (!isObject(value.document)) throw invalid([{ at: '/document', message: 'must be an object' }])
  return envelope(value, value.document)
}

function refuseCatalog(): never {
  throw new DirectoryError(
    'invalid_request',
    'the line is a whole catalog: send each of its entries on a line of its own',
  )
}

/** An entry of a catalog that contains its artifact; undefined if the line is something else. */
function ofCatalogEntry(value: JsonObject): ImportItem | undefined {
  const entry = readCatalogEntry(value)
  if (!entry) return undefined
  if (entry.data) return { document: withEntry(entry.data, entry), id: entry.identifier }
  const message = `the entry refers to ${entry.url}: send the document itself as "data", or its address to POST /crawl`
  throw new DirectoryError('invalid_request', message)
}

function envelope({ face, format = face, id, owner }: JsonObject, document: JsonObject): ImportItem {
  const issues: Issue[] = []
  if (format !== undefined && !isFormat(format))
    issues.push({ at: '/format', message: `must be one of ${DOCUMENT_FORMATS.join(', ')}` })
  if (id !== undefined && typeof id !== 'string') issues.push({ at: '/id', message: 'must be a string' })
  const problem = typeof owner === 'string' ? subjectProblem(owner) : 'must be a string'
  if (owner !== undefined && problem !== undefined) issues.push({ at: '/owner', message: problem })
  if (issues.length > 0) throw invalid(issues)
  return {
    document,
    ...(isFormat(format) && { format }),
    ...(typeof id === 'string' && { id }),
    ...(typeof owner === 'string' && { owner }),
  }
}

const isBlank = (line: Uint8Array): boolean => line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)

const isFormat = (value: JsonValue | undefined): value is DocumentFormat =>
  DOCUMENT_FORMATS.some((format) => format === value)

/** Splits bytes, not text: a line with invalid UTF-8 fails alone. */
async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  const splitter = createByteLineSplitter(MAX_LINE, (): typeof TOO_LONG => TOO_LONG)
  for await (const chunk of source) yield* splitter.push(chunk)
  const last = splitter.end()
  if (last !== undefined) yield last
}
