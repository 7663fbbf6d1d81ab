import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import {
  DOCUMENT_FORMATS,
  type DocumentFormat,
  detectFormat,
  isObject,
  type JsonObject,
  type JsonValue,
} from '@switchboard/protocol'
import { UsageError } from '../usage.js'
import { ofCatalog, type ReadOptions } from './crawl.js'
import { readJson } from './read-input.js'
import { readText, reasonOf } from './read-text.js'
import { readYaml } from './read-yaml.js'

/** A document to register, with its source. */
export interface FoundDocument {
  /** For messages: the file with the line or position, or the URL. */
  readonly from: string
  readonly document: JsonObject
  readonly id?: string
  readonly format?: DocumentFormat
  /** The owner that an export of a directory names. */
  readonly owner?: string
  /** Number of documents in its source, if known. */
  readonly total?: number
}

/** An item that is not a usable document; the others are still read. */
export interface BadDocument {
  readonly from: string
  readonly problem: string
}

/** Maximum characters of a line; directories accept no larger documents (C-76). */
const MAX_LINE = 300_000

/** Reads the documents of a file: a single one, a list, a catalog, a dump of a directory, lines of JSON, or YAML. */
export async function* readDocuments(name: string, options: ReadOptions): AsyncGenerator<FoundDocument | BadDocument> {
  if (/\.(ndjson|jsonl)$/i.test(name)) return yield* readLines(name)
  const text = await readText(name)
  const [first = '', second = ''] = text.trimStart().split('\n', 2)
  // If the first line is a complete object and more follow, these are lines of JSON.
  if (isObjectLine(first) && second.trim() !== '') {
    const lines = text.split('\n')
    return yield* readFromLines(lines, name, lines.filter((line) => line.trim() !== '').length)
  }
  const value = /\.ya?ml$/i.test(name) ? await readYaml(text, name) : readJson(text, name)
  const catalog = isObject(value) ? ofCatalog(value, name, options) : undefined
  if (catalog) return yield* catalog
  const items = itemsIn(value)
  for (const [n, item] of items.entries()) {
    yield toDocument(item, items.length === 1 ? name : `${name} #${n + 1}`, items.length)
  }
}

const isObjectLine = (line: string): boolean => /^\{.*\}\s*$/.test(line)

async function* readLines(name: string): AsyncGenerator<FoundDocument | BadDocument> {
  const source = createReadStream(name)
  // readline does not report errors of its input to the iterator, so wait here until the file is open.
  const failed = new Promise<never>((_, reject) => source.once('error', reject))
  failed.catch(() => {})
  const opened = new Promise<void>((resolve) => source.once('open', () => resolve()))
  await Promise.race([opened, failed]).catch((error: unknown) => {
    throw new UsageError(`${name}: cannot be read (${reasonOf(error)})`)
  })
  const total = await countLines(name)
  yield* readFromLines(createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY }), name, total)
}

/** The number of lines of a file, for the progress bar; undefined if it is a pipe, which can be read only once. */
async function countLines(name: string): Promise<number | undefined> {
  if (!(await stat(name)).isFile()) return undefined
  let [count, last] = [0, LINE_FEED]
  for await (const chunk of createReadStream(name)) {
    const bytes = Buffer.from(chunk)
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count++
    last = bytes.at(-1) ?? last
  }
  return last === LINE_FEED ? count : count + 1
}

const LINE_FEED = 0x0a

async function* readFromLines(
  lines: Iterable<string> | AsyncIterable<string>,
  name: string,
  total: number | undefined,
): AsyncGenerator<FoundDocument | BadDocument> {
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    const from = `${name}:${number}`
    if (line.length > MAX_LINE) yield { from, problem: `the line is longer than ${MAX_LINE} characters` }
    else yield fromLine(line, from, total)
  }
}

function fromLine(line: string, from: string, total: number | undefined): FoundDocument | BadDocument {
  try {
    return toDocument(readJson(line, from), from, total)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { from, problem: problemOf(error, from) }
  }
}

/** The message of an error without its source, which the report of an import puts in front itself. */
export const problemOf = ({ message }: Error, from: string): string =>
  message.startsWith(`${from}: `) ? message.slice(from.length + 2) : message

/** Members in which directories and registries list their documents. */
const LISTS = ['agents', 'results', 'servers', 'candidates', 'items']

/** The documents in a value: a list, an object with a list, or a single document. */
function itemsIn(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  if (!isObject(value) || detectFormat(value) !== undefined) return [value]
  const list = LISTS.map((name) => value[name]).find(Array.isArray)
  return Array.isArray(list) ? list : [value]
}

/** Reads a bare document, or one in an envelope: `server` in MCP registries, `document` in our import format. */
function toDocument(item: JsonValue, from: string, total?: number): FoundDocument | BadDocument {
  const known = total === undefined ? {} : { total }
  if (!isObject(item)) return { from, problem: 'a document must be a JSON object' }
  if (isObject(item.server)) return { from, document: item.server, format: 'mcp', ...known }
  if (!isObject(item.document)) return { from, document: item, ...known }
  // `face` is the older name of `format`.
  const format = DOCUMENT_FORMATS.find((name) => name === (item.format ?? item.face))
  return {
    from,
    document: item.document,
    ...(typeof item.id === 'string' && { id: item.id }),
    ...(typeof item.owner === 'string' && { owner: item.owner }),
    ...(format && { format }),
    ...known,
  }
}

/** Reads a file that must have exactly one document. */
export async function readDocument(name: string, options: ReadOptions): Promise<FoundDocument> {
  const found: (FoundDocument | BadDocument)[] = []
  for await (const item of readDocuments(name, options)) {
    found.push(item)
    if (found.length > 1) throw new UsageError(`${name}: has several documents; use switchboard import`)
  }
  const [first] = found
  if (!first) throw new UsageError(`${name}: is empty`)
  if ('problem' in first) throw new UsageError(`${first.from}: ${first.problem}`)
  return first
}
