import { NDJSON } from '@switchboard/protocol/http'
import { asObjects, asString, asStrings, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { ClientError } from '../errors.js'
import { exchange } from '../transports/http/exchange.js'
import { type BulkAdmin, createBulkAdmin } from './bulk.js'
import { createGrantAdmin, type GrantAdmin } from './grants.js'
import { openEnded, readObjects } from './json-lines.js'
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

/** An agent of the demo, and what can be tried with it. */
export interface DemoAgent {
  readonly id: string
  /** What the agent shows. */
  readonly shows: string
  /** As the directory shows it: an input to call it with, words that find it, the key that its callers need. */
  readonly document: JsonObject
}

/** How much of each kind is kept about a subject. */
export type SubjectCounts = Readonly<Record<string, number>>

/** The administration of a directory; every method needs the `admin` scope and throws a `ClientError` if it fails. */
export interface AdminClient extends BulkAdmin, GrantAdmin, PeerAdmin {
  listKeys(options?: RequestOptions): Promise<readonly ApiKey[]>
  createKey(key: ApiKeyRequest, options?: RequestOptions): Promise<CreatedApiKey>
  /** Revokes a key, effective immediately. */
  revokeKey(id: string, options?: RequestOptions): Promise<void>
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
  /** Starts the agents of the demo in the directory's own process, if they do not run there; in development mode only. */
  startDemo(options?: RequestOptions): Promise<readonly DemoAgent[]>
  /** Stops and removes them. */
  stopDemo(options?: RequestOptions): Promise<void>
}

/** Characters of a line about a subject, which may be the result of a deferred call. */
const MAX_SUBJECT_LINE_LENGTH = 64 * 1024 * 1024

/**
 * A client of a directory's administration, apart from `createClient` so that programs that only use a directory do not
 * load it.
 *
 * @example
 * const admin = createAdminClient({ baseUrl: 'https://directory.example', token: adminKey })
 * const { secret } = await admin.createKey({ subject: 'acme', scopes: ['publish'], names: ['acme-*'] })
 */
export function createAdminClient(options: ConnectionOptions): AdminClient {
  const requester = openRequester(options)
  const { request, deps } = requester

  return {
    ...createBulkAdmin(requester),
    ...createGrantAdmin(request),
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
    async startDemo(more) {
      const { body } = await request({ ...more, method: 'POST', path: '/admin/demo' })
      const agents = asObjects(isObject(body) ? body.agents : undefined)
      return agents.map((document) => ({
        id: asString(document.id) ?? '',
        shows: asString(document.shows) ?? '',
        document,
      }))
    },
    async stopDemo(more) {
      await request({ ...more, method: 'DELETE', path: '/admin/demo' })
    },
  }
}

const subjectPath = (subject: string): string => `/admin/subjects/${encodeURIComponent(subject)}`

function readCounts(body: JsonValue | undefined, member: string): SubjectCounts {
  const counts = isObject(body) ? body[member] : undefined
  return Object.fromEntries(Object.entries(isObject(counts) ? counts : {}).map(([kind, rows]) => [kind, Number(rows)]))
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
