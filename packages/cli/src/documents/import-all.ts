import { type AdminClient, ClientError, type DirectoryClient, type ImportItem } from '@switchboard/client'
import { UsageError } from '../usage.js'
import { type BadDocument, type FoundDocument, problemOf } from './read-documents.js'
import { toRegistration } from './registrable.js'

/** The result for one document, with its source. */
export interface DocumentResult {
  readonly from: string
  readonly status: 'created' | 'updated' | 'failed'
  readonly id?: string
  readonly message?: string
  /** Number of documents in its source, if known. */
  readonly total?: number
}

/** Concurrent registrations: few enough for a directory that others use, too. */
const CONCURRENCY = 8

/** Registers documents one request each, and yields the results in order. */
export async function* importAll(
  directory: DirectoryClient,
  found: AsyncIterable<FoundDocument | BadDocument>,
  signal: AbortSignal,
): AsyncGenerator<DocumentResult> {
  const pending: Promise<DocumentResult>[] = []
  for await (const item of found) {
    if (signal.aborted) break
    const started = importOne(directory, item, signal)
    // Rejections are handled in order; after a fatal one, nobody awaits the others.
    started.catch(() => {})
    pending.push(started)
    const first = pending.length >= CONCURRENCY ? pending.shift() : undefined
    if (first) yield await first
  }
  for (const rest of pending) yield await rest
}

async function importOne(
  directory: DirectoryClient,
  item: FoundDocument | BadDocument,
  signal: AbortSignal,
): Promise<DocumentResult> {
  const { from } = item
  if ('problem' in item) return { from, status: 'failed', message: item.problem }
  const total = item.total === undefined ? {} : { total: item.total }
  try {
    const { document, options } = toRegistration(item)
    const { id, created } = await directory.register(document, { ...options, signal })
    return { from, status: created ? 'created' : 'updated', id, ...total }
  } catch (error) {
    // The others would fail in the same way.
    if (error instanceof ClientError && FATAL.has(error.code)) throw error
    if (!(error instanceof ClientError || error instanceof UsageError)) throw error
    return { from, status: 'failed', message: problemOf(error, from), ...total }
  }
}

const FATAL = new Set(['unreachable', 'unauthorized', 'insecure', 'aborted'])

/** Registers documents through the administration, and yields the results as they arrive. */
export async function* importInBulk(
  admin: AdminClient,
  found: AsyncIterable<FoundDocument | BadDocument>,
  signal: AbortSignal,
): AsyncGenerator<DocumentResult> {
  /** Documents without a result yet, by line. */
  const sent = new Map<number, FoundDocument>()
  const bad: BadDocument[] = []
  const toFailure = ({ from, problem }: BadDocument): DocumentResult => ({ from, status: 'failed', message: problem })
  const items = async function* (): AsyncGenerator<ImportItem> {
    let line = 0
    for await (const item of found) {
      if ('problem' in item) {
        bad.push(item)
        continue
      }
      sent.set(++line, item)
      const { document, format, id } = item
      yield { document, ...(format && { format }), ...(id !== undefined && { id }) }
    }
  }
  for await (const { line, ...result } of admin.importAgents(items(), { signal })) {
    const item = sent.get(line)
    sent.delete(line)
    const total = item?.total === undefined ? {} : { total: item.total }
    const from = item?.from ?? `line ${line}`
    if (result.status === 'failed') yield { from, status: 'failed', message: result.message, ...total }
    else yield { from, status: result.status, id: result.id, ...total }
    yield* bad.splice(0).map(toFailure)
  }
  yield* bad.map(toFailure)
  for (const { from } of sent.values()) yield { from, status: 'failed', message: 'the directory sent no result' }
}
