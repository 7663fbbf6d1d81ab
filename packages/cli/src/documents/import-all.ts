import { ClientError } from '@switchboard/client'
import { asString, type JsonObject } from '@switchboard/protocol'
import type { Directory } from '../directory.js'
import { UsageError } from '../usage.js'
import type { BadDocument, FoundDocument } from './read-documents.js'
import { toRegistration } from './registrable.js'

/** What became of one document. */
export interface ImportResult {
  readonly from: string
  readonly status: 'created' | 'updated' | 'failed'
  readonly id?: string
  readonly message?: string
  /** How many there are in its source, where that is known. */
  readonly total?: number
}

/** Documents under way at once: few enough for a directory that others use, too. */
const AT_ONCE = 8

/** Registers documents as anybody would, and gives the results in order. */
export async function* importAll(
  directory: Directory,
  found: AsyncIterable<FoundDocument | BadDocument>,
  signal: AbortSignal,
): AsyncGenerator<ImportResult> {
  const pending: Promise<ImportResult>[] = []
  for await (const item of found) {
    if (signal.aborted) break
    const started = importOne(directory, item, signal)
    // Told when its turn comes; the first failure that ends all leaves the others unheard.
    started.catch(() => {})
    pending.push(started)
    const first = pending.length >= AT_ONCE ? pending.shift() : undefined
    if (first) yield await first
  }
  for (const rest of pending) yield await rest
}

async function importOne(
  directory: Directory,
  item: FoundDocument | BadDocument,
  signal: AbortSignal,
): Promise<ImportResult> {
  const { from } = item
  if ('problem' in item) return { from, status: 'failed', message: item.problem }
  const total = item.total === undefined ? {} : { total: item.total }
  try {
    const { document, options } = toRegistration(item)
    const { id, created } = await directory.register(document, { ...options, signal })
    return { from, status: created ? 'created' : 'updated', id, ...total }
  } catch (error) {
    // Nothing else can come of the others either.
    if (error instanceof ClientError && FATAL.has(error.code)) throw error
    if (!(error instanceof ClientError || error instanceof UsageError)) throw error
    return { from, status: 'failed', message: error.message, ...total }
  }
}

const FATAL = new Set(['unreachable', 'unauthorized', 'insecure', 'aborted'])

/** Sends documents as lines, which operators may, and gives the results as they come. */
export async function* importInBulk(
  directory: Directory,
  found: AsyncIterable<FoundDocument | BadDocument>,
  signal: AbortSignal,
): AsyncGenerator<ImportResult> {
  /** What was sent and is not answered yet, by its line. */
  const sent = new Map<number, FoundDocument>()
  const bad: BadDocument[] = []
  const lines = async function* (): AsyncGenerator<string> {
    let line = 0
    for await (const item of found) {
      if ('problem' in item) {
        bad.push(item)
        continue
      }
      sent.set(++line, item)
      const { document, format, id } = item
      yield JSON.stringify({ document, ...(format && { format }), ...(id !== undefined && { id }) })
    }
  }
  for await (const result of directory.importLines(lines(), signal)) {
    const line = Number(result.line)
    const item = sent.get(line)
    sent.delete(line)
    yield toResult(item?.from ?? `line ${line}`, result, item?.total)
    for (const { from, problem } of bad.splice(0)) yield { from, status: 'failed', message: problem }
  }
  for (const { from, problem } of bad) yield { from, status: 'failed', message: problem }
  for (const { from } of sent.values()) yield { from, status: 'failed', message: 'the directory gave no answer' }
}

function toResult(from: string, result: JsonObject, total: number | undefined): ImportResult {
  const id = asString(result.id)
  const message = asString(result.message)
  const status = result.status === 'created' || result.status === 'updated' ? result.status : 'failed'
  return {
    from,
    status,
    ...(id !== undefined && { id }),
    ...(message !== undefined && { message }),
    ...(total !== undefined && { total }),
  }
}
