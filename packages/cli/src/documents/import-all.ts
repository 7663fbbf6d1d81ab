import { setTimeout } from 'node:timers/promises'
import {
  type AdminClient,
  ClientError,
  type DirectoryClient,
  type ImportItem,
  type Registration,
} from '@switchboard/client'
import { UsageError } from '../usage.js'
import { type BadDocument, type FoundDocument, problemOf } from './read-documents.js'
import { type FormatFlags, type RegistrationRequest, toRegistration } from './registrable.js'

/** The result for one document, with its source. */
export interface DocumentResult {
  readonly from: string
  readonly status: 'created' | 'updated' | 'failed'
  readonly id?: string
  readonly message?: string
}

/** Concurrent registrations: few enough for a directory that others use, too. */
const CONCURRENCY = 8

/** Milliseconds of a registration, with the waits of the client if the directory rejects it for now. */
const TIMEOUT_MS = 120_000
/** Seconds to wait if the directory does not say how long, and at most. */
const DEFAULT_WAIT = 5
const MAX_WAIT = 300

export interface ImportOptions {
  readonly flags: FormatFlags
  readonly signal: AbortSignal
}

/** Registers documents one request each, and yields the results in order. */
export async function* importAll(
  directory: DirectoryClient,
  found: AsyncIterable<FoundDocument | BadDocument>,
  options: ImportOptions & { readonly onWait: (seconds: number) => void },
): AsyncGenerator<DocumentResult> {
  const { signal } = options
  const pending: Promise<DocumentResult>[] = []
  for await (const item of found) {
    if (signal.aborted) break
    const started = importOne(directory, item, options)
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
  { flags, signal, onWait }: Parameters<typeof importAll>[2],
): Promise<DocumentResult> {
  const { from } = item
  if ('problem' in item) return { from, status: 'failed', message: item.problem }
  try {
    const { id, created } = await registerWhenAllowed(directory, toRegistration(item, flags), signal, onWait)
    return { from, status: created ? 'created' : 'updated', id }
  } catch (error) {
    // The others would fail in the same way.
    if (error instanceof ClientError && FATAL.has(error.code)) throw error
    if (!(error instanceof ClientError || error instanceof UsageError)) throw error
    return { from, status: 'failed', message: problemOf(error, from) }
  }
}

/** Waits as long as the directory asks for, however often, so that no document is lost. */
async function registerWhenAllowed(
  directory: DirectoryClient,
  { document, options }: RegistrationRequest,
  signal: AbortSignal,
  onWait: (seconds: number) => void,
): Promise<Registration> {
  for (;;) {
    try {
      return await directory.register(document, { ...options, signal, timeoutMs: TIMEOUT_MS })
    } catch (error) {
      if (!(error instanceof ClientError) || !asksToWait(error)) throw error
      const seconds = Math.min(MAX_WAIT, Math.max(1, error.retryAfter ?? DEFAULT_WAIT))
      onWait(seconds)
      await setTimeout(seconds * 1000, undefined, { signal }).catch(() => {
        throw new ClientError('aborted', 'the import was interrupted')
      })
    }
  }
}

const asksToWait = ({ status, retryAfter }: ClientError): boolean =>
  status === 429 || (status === 503 && retryAfter !== undefined)

const FATAL = new Set(['unreachable', 'unauthorized', 'insecure', 'aborted'])

/** Registers documents through the administration, and yields the results as they arrive. */
export async function* importInBulk(
  admin: AdminClient,
  found: AsyncIterable<FoundDocument | BadDocument>,
  { flags, signal }: ImportOptions,
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
      try {
        const { document, options } = toRegistration(item, flags)
        sent.set(++line, item)
        yield { document, ...options, ...(item.owner !== undefined && { owner: item.owner }) }
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        bad.push({ from: item.from, problem: problemOf(error, item.from) })
      }
    }
  }
  for await (const { line, ...result } of admin.importAgents(items(), { signal })) {
    const item = sent.get(line)
    sent.delete(line)
    const from = item?.from ?? `line ${line}`
    if (result.status === 'failed') yield { from, status: 'failed', message: result.message }
    else yield { from, status: result.status, id: result.id }
    yield* bad.splice(0).map(toFailure)
  }
  yield* bad.map(toFailure)
  for (const { from } of sent.values()) yield { from, status: 'failed', message: 'the directory sent no result' }
}
