import {
  asObjects,
  asString,
  asStrings,
  createLineSplitter,
  DOCUMENT_FORMATS,
  type DocumentFormat,
  isObject,
  type JsonObject,
  type JsonValue,
  NDJSON,
  writeLine,
} from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { createDeadline, type Deadline } from '../transports/deadline.js'
import { exchange } from '../transports/http/exchange.js'
import { readChunks, readJsonText } from '../transports/read-body.js'
import { createPeerAdmin, type PeerAdmin } from './peers.js'
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

/** All documents of a directory. */
export interface AgentExport {
  /** Number of agents when the export started, if the directory says so. */
  readonly total?: number
  /** In registration order, as they arrive; each can be imported again. Leaving early stops the export. */
  readonly items: AsyncGenerator<Required<ImportItem>, void, undefined>
}

/** Selects entries of the audit log; all conditions must hold. */
export interface AuditQuery {
  /** RFC 3339. */
  readonly since?: string
  readonly subject?: string
  readonly agent?: string
  /** `register`, `mark`, `key.create`, `sign-in`, `request` … */
  readonly action?: string
  readonly outcome?: 'ok' | 'refused'
  /** Number of entries; default: all. */
  readonly limit?: number
  /** The `cursor` of an entry; only what was added after it. */
  readonly after?: string
}

/** An entry of the audit log: who did what, and whether it was allowed. */
export interface AuditRecord {
  /** Position in the log; pass it as `after` to continue. */
  readonly cursor: string
  /** RFC 3339. */
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly outcome: 'ok' | 'refused'
  readonly agent?: string
  readonly detail?: string
  /** How many more occurrences like an earlier entry this one stands for. */
  readonly count?: number
  /** As the directory shows it, with the states before and after a change. */
  readonly document: JsonObject
}

/** One thing that a directory keeps about a subject. */
export interface SubjectItem {
  /** `agent`, `key`, `grant`, `task`, `rating`, `audit` … */
  readonly kind: string
  readonly value: JsonObject
}

/** How much of each kind is kept about a subject. */
export type SubjectCounts = Readonly<Record<string, number>>

/** The administration of a directory; every method needs the `admin` scope and throws a `ClientError` if it fails. */
export interface AdminClient extends PeerAdmin {
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
  /** The documents of all agents as they were sent, with their ids, formats and owners. */
  exportAgents(options?: Pick<RequestOptions, 'signal'>): Promise<AgentExport>
  /** The audit log, oldest entry first, as it arrives. */
  auditLog(query?: AuditQuery, options?: Pick<RequestOptions, 'signal'>): AsyncGenerator<AuditRecord, void, undefined>
  /** How much is kept about a subject, without the audit log. */
  countSubject(subject: string, options?: RequestOptions): Promise<SubjectCounts>
  /** Everything that is kept about a subject, without secrets, as it arrives. */
  exportSubject(subject: string, options?: Pick<RequestOptions, 'signal'>): AsyncGenerator<SubjectItem, void, undefined>
  /** Erases what is kept about a subject and ends its calls; what others depend on stays under the name `alias`. */
  eraseSubject(subject: string, options?: RequestOptions): Promise<{ erased: SubjectCounts; alias: string }>
  /** Moves everything of a subject to another name; `merge`: even if that name is in use. */
  renameSubject(
    subject: string,
    to: string,
    options?: RequestOptions & { readonly merge?: boolean },
  ): Promise<SubjectCounts>
}

/** Characters of a line: error messages, warnings and audit entries are far shorter. */
const MAX_LINE_LENGTH = 1024 * 1024
/** Characters of a line about a subject, which may be the result of a deferred call. */
const MAX_SUBJECT_LINE_LENGTH = 64 * 1024 * 1024

/** Documents in one request of an import: directories limit how long a request may take to arrive. */
export const MAX_IMPORTED_AT_ONCE = 5000

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
    ...createPeerAdmin(request),
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
    async *auditLog(query = {}, { signal } = {}) {
      const { deadline, leave } = openEnded('the audit log', signal)
      try {
        const params = new URLSearchParams()
        for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value))
        const url = request.urlOf(`/admin/audit?${params}`)
        const headers = { accept: NDJSON.type, ...request.headers() }
        const response = await exchange(deps, { method: 'GET', url, headers, isRepeatable: true }, deadline)
        for await (const value of readObjects(response.body, deadline, 'an audit entry')) yield readAudit(value)
      } finally {
        leave()
      }
    },
    async countSubject(subject, more) {
      const { body } = await request({ ...more, method: 'GET', path: subjectPath(subject) })
      return readCounts(body, 'counts')
    },
    async *exportSubject(subject, { signal } = {}) {
      const { deadline, leave } = openEnded('the export', signal)
      try {
        const url = request.urlOf(`${subjectPath(subject)}/export`)
        const headers = { accept: NDJSON.type, ...request.headers() }
        const response = await exchange(deps, { method: 'GET', url, headers, isRepeatable: true }, deadline)
        const lines = readObjects(response.body, deadline, 'a line of the export', MAX_SUBJECT_LINE_LENGTH)
        for await (const { kind, value } of lines)
          yield { kind: asString(kind) ?? '', value: isObject(value) ? value : {} }
      } finally {
        leave()
      }
    },
    async eraseSubject(subject, more) {
      const { body } = await request({ ...more, method: 'DELETE', path: subjectPath(subject) })
      return { erased: readCounts(body, 'erased'), alias: (isObject(body) && asString(body.alias)) || '' }
    },
    async renameSubject(subject, to, { merge, ...more } = {}) {
      const path = `${subjectPath(subject)}/rename`
      const { body } = await request({ ...more, method: 'POST', path, body: { to, ...(merge && { merge }) } })
      return readCounts(body, 'moved')
    },
  }
}

const subjectPath = (subject: string): string => `/admin/subjects/${encodeURIComponent(subject)}`

function readCounts(body: JsonValue | undefined, member: string): SubjectCounts {
  const counts = isObject(body) ? body[member] : undefined
  return Object.fromEntries(Object.entries(isObject(counts) ? counts : {}).map(([kind, rows]) => [kind, Number(rows)]))
}

/** For an exchange that takes as long as its sender or reader does; `leave` ends it. */
function openEnded(what: string, signal: AbortSignal | undefined): { deadline: Deadline; leave: () => void } {
  const leaving = new AbortController()
  const deadline = createDeadline(0, what, signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal)
  deadline.pause()
  const leave = (): void => {
    leaving.abort()
    deadline.clear()
  }
  return { deadline, leave }
}

/** The objects of a body that has one in each line. */
async function* readObjects(
  body: ReadableStream<Uint8Array> | null,
  deadline: Deadline,
  what: string,
  maxLength = MAX_LINE_LENGTH,
): AsyncGenerator<JsonObject, void, undefined> {
  const splitter = createLineSplitter(maxLength, () => {
    throw new ClientError('too_large', `${what} has more than ${maxLength} characters`)
  })
  const decoder = new TextDecoder()
  for await (const chunk of readChunks(body, deadline)) {
    for (const line of splitter.push(decoder.decode(chunk, { stream: true }))) yield* readObject(line, what)
  }
  yield* readObject(splitter.end() ?? '', what)
}

function* readObject(line: string, what: string): Generator<JsonObject, void, undefined> {
  if (line.trim() === '') return
  const value: JsonValue = readJsonText(line, what)
  if (!isObject(value)) throw new ClientError('bad_response', `${what} is not an object`)
  yield value
}

function readExported({ id, format, owner, document }: JsonObject): Required<ImportItem> {
  const known = DOCUMENT_FORMATS.find((name) => name === format)
  if (typeof id !== 'string' || typeof owner !== 'string' || known === undefined || !isObject(document)) {
    throw new ClientError('bad_response', 'an agent of the export has no id, owner, document or known format')
  }
  return { id, format: known, owner, document }
}

function readAudit(document: JsonObject): AuditRecord {
  const { agent, detail, count } = document
  return {
    cursor: asString(document.cursor) ?? '',
    at: asString(document.at) ?? '',
    actor: asString(document.actor) ?? '',
    action: asString(document.action) ?? '',
    outcome: document.outcome === 'refused' ? 'refused' : 'ok',
    ...(typeof agent === 'string' && { agent }),
    ...(typeof detail === 'string' && { detail }),
    ...(typeof count === 'number' && { count }),
    document,
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
