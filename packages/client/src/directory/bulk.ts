import { NDJSON, writeLine } from '@switchboard/protocol/http'
import { asString, asStrings, isObject, type JsonObject } from '@switchboard/protocol/json'
import { DOCUMENT_FORMATS, type DocumentFormat } from '@switchboard/protocol/record'
import { ClientError } from '../errors.js'
import { exchange } from '../transports/http/exchange.js'
import { openEnded, readObjects } from './json-lines.js'
import type { openRequester, RequestOptions } from './requester.js'

/** One document of an import. */
export interface ImportItem {
  readonly document: JsonObject
  /** The draft of the document; default: detected from its members. */
  readonly format?: DocumentFormat
  /** The agent's id, if the document states none or another one is wanted. */
  readonly id?: string
  /** The subject that will own the agent; default: the importer. */
  readonly owner?: string
}

/** The result for one document of an import. */
export type ImportResult = {
  /** Position of the document, from 1. */
  readonly line: number
} & (
  | { readonly status: 'created' | 'updated'; readonly id: string; readonly warnings: readonly string[] }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }
)

/** All documents of a directory. */
export interface AgentExport {
  /** Number of agents when the export started, if the directory says so. */
  readonly total?: number
  /** In registration order, as they arrive; each can be imported again. Leaving early stops the export. */
  readonly items: AsyncGenerator<Required<ImportItem>, void, undefined>
}

/** Everything that a directory lists, in and out. */
export interface BulkAdmin {
  /**
   * Registers many documents without the limit on registrations. Documents are sent while results arrive; a document
   * that fails does not stop the others. Leaving early stops the import.
   */
  importAgents(
    items: AsyncIterable<ImportItem> | Iterable<ImportItem>,
    options?: Pick<RequestOptions, 'signal'>,
  ): AsyncGenerator<ImportResult, void, undefined>
  /** The documents of all agents as they were sent, with their ids, formats and owners. */
  exportAgents(options?: Pick<RequestOptions, 'signal'>): Promise<AgentExport>
}

/** Documents in one request of an import: directories limit how long a request may take to arrive. */
export const MAX_IMPORTED_AT_ONCE = 5000

export function createBulkAdmin({ request, deps }: ReturnType<typeof openRequester>): BulkAdmin {
  /** Imports documents with one request. */
  async function* importPart(
    items: AsyncIterable<ImportItem>,
    { signal }: Pick<RequestOptions, 'signal'>,
  ): AsyncGenerator<ImportResult, void, undefined> {
    const { deadline, leave } = openEnded('the import', signal)
    let failure: { readonly error: unknown } | undefined
    try {
      const headers = { accept: NDJSON.type, 'content-type': NDJSON.type, ...request.headers() }
      const body = toStream(items, deadline.signal, (error) => {
        failure = { error }
      })
      const response = await exchange(
        // A stream can be sent only once.
        { ...deps, retry: { ...deps.retry, retries: 0 } },
        { method: 'POST', url: request.urlOf('/admin/import'), headers, body, isRepeatable: false },
        deadline,
      )
      for await (const value of readObjects(response.body, deadline, 'a result of the import')) yield readResult(value)
    } catch (error) {
      // A failure of the source breaks the request, but is the real reason.
      throw failure ? failure.error : error
    } finally {
      leave()
    }
  }

  return {
    async *importAgents(items, options = {}) {
      const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
      let [sent, isOver] = [0, false]
      const part = async function* (): AsyncGenerator<ImportItem> {
        for (let count = 0; count < MAX_IMPORTED_AT_ONCE; count++) {
          const next = await source.next()
          isOver = next.done === true
          if (next.done) return
          sent++
          yield next.value
        }
      }
      try {
        while (!isOver) {
          const before = sent
          for await (const result of importPart(part(), options)) yield { ...result, line: before + result.line }
        }
      } finally {
        // Not awaited: a source that waits for its next item would hold up whoever leaves.
        void Promise.resolve(source.return?.()).catch(() => {})
      }
    },
    async exportAgents({ signal } = {}) {
      const { deadline, leave } = openEnded('the export', signal)
      const headers = { accept: NDJSON.type, ...request.credentials }
      const url = request.urlOf('/admin/export')
      const response = await exchange(deps, { method: 'GET', url, headers, isRepeatable: true }, deadline).catch(
        (error: unknown) => {
          leave()
          throw error
        },
      )
      const total = response.headers.get('x-total-count')
      async function* items(): AsyncGenerator<Required<ImportItem>, void, undefined> {
        try {
          for await (const value of readObjects(response.body, deadline, 'an agent of the export'))
            yield readExported(value)
        } finally {
          leave()
        }
      }
      return { items: items(), ...(total !== null && /^\d{1,15}$/.test(total) && { total: Number(total) }) }
    },
  }
}

function readExported({ id, format, owner, document }: JsonObject): Required<ImportItem> {
  const known = DOCUMENT_FORMATS.find((name) => name === format)
  if (typeof id !== 'string' || typeof owner !== 'string' || known === undefined || !isObject(document)) {
    throw new ClientError('bad_response', 'an agent of the export has no id, owner, document or known format')
  }
  return { id, format: known, owner, document }
}

/** A body that pulls the next document once the previous one has been sent. */
function toStream(
  items: AsyncIterable<ImportItem>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = items[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      // Node's fetch goes on reading the body of an aborted request.
      if (signal.aborted) {
        controller.error(signal.reason)
        await iterator.return?.()
        return
      }
      try {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(writeLine(value)))
      } catch (error) {
        onFailure(error)
        controller.error(error)
      }
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

function readResult(value: JsonObject): ImportResult {
  const id = asString(value.id)
  const line = Number(value.line)
  if ((value.status === 'created' || value.status === 'updated') && id !== undefined) {
    return { line, status: value.status, id, warnings: asStrings(value.warnings) }
  }
  const code = asString(value.code) ?? 'internal_error'
  return { line, status: 'failed', code, message: asString(value.message) ?? 'no reason was given' }
}
