import {
  asObjects,
  asString,
  asStrings,
  createLineSplitter,
  type DocumentFormat,
  isObject,
  type JsonObject,
  type JsonValue,
  NDJSON,
  writeLine,
} from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { createDeadline } from '../transports/deadline.js'
import { exchange } from '../transports/http/exchange.js'
import { readChunks, readJsonText } from '../transports/read-body.js'
import { type ConnectionOptions, openRequester, type RequestOptions } from './requester.js'

/** What a subject may do in a directory. Its secret is known only when the key is created. */
export interface ApiKey {
  readonly id: string
  readonly subject: string
  readonly scopes: readonly string[]
  /** Agent names or prefixes (`acme-*`) that the key is limited to; empty: all. */
  readonly names: readonly string[]
  /** RFC 3339. */
  readonly expiresAt?: string
  /** As the directory shows it. */
  readonly document: JsonObject
}

/** A new key with its secret, which cannot be read again. */
export interface CreatedApiKey extends ApiKey {
  readonly secret: string
}

export interface ApiKeyRequest {
  readonly subject: string
  /** `publish`, `discover`, `invoke`, `ct` or `admin`. */
  readonly scopes: readonly string[]
  /** Agent names or prefixes (`acme-*`) to limit the key to; default: all. */
  readonly names?: readonly string[]
  /** Seconds; default: the key does not expire. */
  readonly expiresIn?: number
}

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

/** The administration of a directory; every method needs the `admin` scope and throws a `ClientError` if it fails. */
export interface AdminClient {
  listKeys(options?: RequestOptions): Promise<readonly ApiKey[]>
  createKey(key: ApiKeyRequest, options?: RequestOptions): Promise<CreatedApiKey>
  /** Revokes a key, effective immediately. */
  revokeKey(id: string, options?: RequestOptions): Promise<void>
  /**
   * Registers many documents without the limit on registrations. Documents are sent while results arrive; a document
   * that fails does not stop the others. Leaving early stops the import.
   */
  importAgents(
    items: AsyncIterable<ImportItem> | Iterable<ImportItem>,
    options?: Pick<RequestOptions, 'signal'>,
  ): AsyncGenerator<ImportResult, void, undefined>
}

/** Characters of a result line: an error message and warnings are far shorter. */
const MAX_RESULT_LENGTH = 1024 * 1024

/**
 * A client of a directory's administration, apart from `createClient` so that programs that only use a directory do not
 * load it.
 *
 * @example
 * const admin = createAdminClient({ baseUrl: 'https://directory.example', token: adminKey })
 * const { secret } = await admin.createKey({ subject: 'acme', scopes: ['publish'], names: ['acme-*'] })
 */
export function createAdminClient(options: ConnectionOptions): AdminClient {
  const { request, deps } = openRequester(options)
  return {
    async listKeys(more) {
      const { body } = await request({ ...more, method: 'GET', path: '/admin/keys' })
      return asObjects(isObject(body) ? body.keys : undefined).map(readKey)
    },
    async createKey({ subject, scopes, names, expiresIn }, more) {
      const { body } = await request({
        ...more,
        method: 'POST',
        path: '/admin/keys',
        body: {
          subject,
          scopes: [...scopes],
          ...(names && { names: [...names] }),
          ...(expiresIn !== undefined && { expires_in: expiresIn }),
        },
      })
      const secret = isObject(body) ? asString(body.key) : undefined
      if (!isObject(body) || secret === undefined) {
        throw new ClientError('bad_response', 'the directory created a key but did not return its secret')
      }
      return { ...readKey(body), secret }
    },
    async revokeKey(id, more) {
      await request({ ...more, method: 'DELETE', path: `/admin/keys/${encodeURIComponent(id)}` })
    },
    async *importAgents(items, { signal } = {}) {
      const leaving = new AbortController()
      const deadline = createDeadline(
        0,
        'the import',
        signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal,
      )
      // It takes as long as the documents do.
      deadline.pause()
      let failure: { readonly error: unknown } | undefined
      try {
        const headers = { accept: NDJSON.type, 'content-type': NDJSON.type, ...request.credentials }
        const body = toStream(items, deadline.signal, (error) => {
          failure = { error }
        })
        const response = await exchange(
          // A stream can be sent only once.
          { ...deps, retry: { ...deps.retry, retries: 0 } },
          { method: 'POST', url: request.urlOf('/admin/import'), headers, body, isRepeatable: false },
          deadline,
        )
        const splitter = createLineSplitter(MAX_RESULT_LENGTH, () => {
          throw new ClientError('too_large', `a result has more than ${MAX_RESULT_LENGTH} characters`)
        })
        const decoder = new TextDecoder()
        for await (const chunk of readChunks(response.body, deadline)) {
          for (const line of splitter.push(decoder.decode(chunk, { stream: true }))) yield* readResult(line)
        }
        yield* readResult(splitter.end() ?? '')
      } catch (error) {
        // A failure of the source breaks the request, but is the real reason.
        throw failure ? failure.error : error
      } finally {
        leaving.abort()
        deadline.clear()
      }
    },
  }
}

const readKey = (document: JsonObject): ApiKey => {
  const { key: _secret, ...shown } = document
  const expiresAt = asString(document.expires_at)
  return {
    id: asString(document.id) ?? '',
    subject: asString(document.subject) ?? '',
    scopes: asStrings(document.scopes),
    names: asStrings(document.names),
    ...(expiresAt !== undefined && { expiresAt }),
    document: shown,
  }
}

/** A body that pulls the next document once the previous one has been sent. */
function toStream(
  items: AsyncIterable<ImportItem> | Iterable<ImportItem>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
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

function* readResult(line: string): Generator<ImportResult, void, undefined> {
  if (line.trim() === '') return
  const value: JsonValue = readJsonText(line, 'a result of the import')
  if (!isObject(value)) throw new ClientError('bad_response', 'a result of the import is not an object')
  const id = asString(value.id)
  const number = Number(value.line)
  if ((value.status === 'created' || value.status === 'updated') && id !== undefined) {
    yield { line: number, status: value.status, id, warnings: asStrings(value.warnings) }
  } else {
    const code = asString(value.code) ?? 'internal_error'
    yield { line: number, status: 'failed', code, message: asString(value.message) ?? 'no reason was given' }
  }
}
