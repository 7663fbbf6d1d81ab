import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type DocumentFormat, detectFormat, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { UsageError } from '../usage.js'
import { readJson } from './read-input.js'
import { readText } from './read-text.js'

/** A document to register, and where it was found. */
export interface FoundDocument {
  /** For messages: the file with the place in it, or the URL. */
  readonly from: string
  readonly document: JsonObject
  readonly id?: string
  readonly format?: DocumentFormat
  /** How many its source has, where that is known. */
  readonly total?: number
}

/** A place that holds no document, told without ending the others. */
export interface BadDocument {
  readonly from: string
  readonly problem: string
}

/** Bytes of a line; directories take no longer documents (C-76). */
const MAX_LINE = 300_000

/** The documents of a file: one, a list, a dump of a directory, or lines of JSON. */
export async function* readDocuments(name: string): AsyncGenerator<FoundDocument | BadDocument> {
  if (/\.(ndjson|jsonl)$/i.test(name)) return yield* readLines(name)
  const text = await readText(name)
  const [first = '', second = ''] = text.trimStart().split('\n', 2)
  // A document over several lines does not close on its first one.
  if (isWhole(first) && second.trim() !== '') return yield* toFound(text.split('\n'), name)
  const items = itemsIn(readJson(text, name))
  for (const [n, item] of items.entries()) {
    yield toDocument(item, items.length === 1 ? name : `${name} #${n + 1}`, items.length)
  }
}

const isWhole = (line: string): boolean => /^\{.*\}\s*$/.test(line)

async function* readLines(name: string): AsyncGenerator<FoundDocument | BadDocument> {
  const source = createReadStream(name)
  // Whoever iterates over the lines hears of errors of the file here, and not from the lines.
  const failed = new Promise<never>((_, reject) => source.once('error', reject))
  failed.catch(() => {})
  const opened = new Promise<void>((resolve) => source.once('open', () => resolve()))
  await Promise.race([opened, failed]).catch((error: unknown) => {
    throw new UsageError(`${name} cannot be read: ${String(error)}`)
  })
  yield* toFound(createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY }), name)
}

async function* toFound(
  lines: Iterable<string> | AsyncIterable<string>,
  name: string,
): AsyncGenerator<FoundDocument | BadDocument> {
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    const from = `${name}:${number}`
    if (line.length > MAX_LINE) yield { from, problem: `the line is longer than ${MAX_LINE} characters` }
    else yield fromLine(line, from)
  }
}

function fromLine(line: string, from: string): FoundDocument | BadDocument {
  try {
    return toDocument(readJson(line, from), from)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { from, problem: error.message.slice(from.length + 2) }
  }
}

/** Members under which directories and registries list what they have. */
const LISTS = ['agents', 'results', 'servers', 'candidates', 'items']

/** The documents in a value: it is a list, has one, or is a document itself. */
function itemsIn(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  if (!isObject(value) || detectFormat(value) !== undefined) return [value]
  const list = LISTS.map((name) => value[name]).find(Array.isArray)
  return Array.isArray(list) ? list : [value]
}

/** Kinds of documents, by the drafts that they are of. */
export const DOCUMENT_FORMATS: readonly DocumentFormat[] = ['aidip', 'profile', 'directory', 'descriptor', 'a2a', 'mcp']

/** A document alone, or in an envelope: MCP's registry says `server`, our own import `document`. */
function toDocument(item: JsonValue, from: string, total?: number): FoundDocument | BadDocument {
  const known = total === undefined ? {} : { total }
  if (!isObject(item)) return { from, problem: 'a document must be a JSON object' }
  if (isObject(item.server)) return { from, document: item.server, format: 'mcp', ...known }
  if (!isObject(item.document)) return { from, document: item, ...known }
  const format = DOCUMENT_FORMATS.find((word) => word === item.format)
  const id = typeof item.id === 'string' ? { id: item.id } : {}
  return { from, document: item.document, ...id, ...(format && { format }), ...known }
}

/** The one document of a file, for commands that take one. */
export async function readDocument(name: string): Promise<FoundDocument> {
  const found: (FoundDocument | BadDocument)[] = []
  for await (const item of readDocuments(name)) {
    found.push(item)
    if (found.length > 1) throw new UsageError(`${name} holds several documents: use switchboard import`)
  }
  const [first] = found
  if (!first) throw new UsageError(`${name} is empty`)
  if ('problem' in first) throw new UsageError(`${first.from}: ${first.problem}`)
  return first
}
