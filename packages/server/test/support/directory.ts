import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { createServer, type ServerDeps } from '../../src/app.js'
import type { Settings } from '../../src/config/settings.js'
import { testVectorDatabase } from '../postgres.js'
import { type CheckedResponses, checkResponses } from './check-responses.js'

/** The caller: two publishers (tokA, tokB), an ordinary client (tokC), the administrator, or no credentials. */
export type TestCaller = 'tokA' | 'tokB' | 'tokC' | 'admin' | 'anon'

export interface TestResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body, typed as JSON.parse types it; undefined if it is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>
}

export interface RequestOptions {
  readonly as?: TestCaller
  readonly key?: string
  readonly body?: JsonValue
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | Uint8Array
  readonly headers?: Record<string, string>
}

/** A running directory on a temporary folder, with its callers. */
export interface TestDirectory {
  readonly url: string
  readonly adminKey: string
  /** The operations and statuses of its responses so far, as in `GET /agents/{id} 200`. */
  readonly seen: ReadonlySet<string>
  get(path: string, options?: RequestOptions): Promise<TestResponse>
  head(path: string, options?: RequestOptions): Promise<TestResponse>
  post(path: string, options?: RequestOptions): Promise<TestResponse>
  put(path: string, options?: RequestOptions): Promise<TestResponse>
  patch(path: string, options?: RequestOptions): Promise<TestResponse>
  delete(path: string, options?: RequestOptions): Promise<TestResponse>
  /** Creates a key with POST /admin/keys. */
  makeKey(options: JsonObject): Promise<string>
  /** Deletes every agent and grant, so that the next test starts with none. */
  clear(): Promise<void>
  /** Stops the server and starts it again on the same data. */
  restart(config?: Settings): Promise<void>
  /** Stops it. Throws if a response differed from what its route declares. */
  close(): Promise<void>
}

const SCOPES: Partial<Record<TestCaller, string[]>> = {
  tokA: ['publish', 'discover', 'invoke'],
  tokB: ['publish', 'discover', 'invoke'],
  tokC: ['discover', 'invoke'],
}

/** Runs the tests with the text engine in PostgreSQL, each directory in a database of its own. */
const SEARCHES_IN_POSTGRES = process.env.SWITCHBOARD_TEST_ENGINE === 'postgres'

const OPEN_LIMITS = { search: 1e6, register: 1e6, lookup: 1e6, invoke: 1e6 }

/** Starts a directory as an application embeds it with `createServer`; rate limits are high, and agents are not
 * asked for their operations, unless a test sets it. */
export async function startDirectory(settings: Settings = {}, deps: ServerDeps = {}): Promise<TestDirectory> {
  const data = mkdtempSync(join(tmpdir(), 'switchboard-test-'))
  const database = SEARCHES_IN_POSTGRES && settings.database === undefined ? await testVectorDatabase() : undefined
  const shared: Settings = database ? { database: database.url } : {}
  const adminKey = 'administrator-of-the-tests'
  const checks: CheckedResponses[] = []
  const start = async (more: Settings = {}) => {
    const started = await createServer(
      {
        port: 0,
        data,
        adminKey,
        logLevel: 'silent',
        rateLimits: OPEN_LIMITS,
        // Agents of most tests count the requests that they get.
        operations: { fetch: false },
        ...shared,
        ...settings,
        ...more,
        // The embedding model runs in a separate process; most tests do not need it.
        // It may be slow while other tests run.
        search: {
          embedder: 'none',
          embedTimeoutMs: 30_000,
          ...(SEARCHES_IN_POSTGRES && { engine: 'postgres' }),
          ...settings.search,
          ...more.search,
        },
      },
      deps,
    )
    // With this setting, documents differ from the schema of the draft.
    if (!more.policy?.strictness.lenientCapabilities) checks.push(checkResponses(started.app))
    return started
  }
  let server = await start()
  let url = await server.listen()
  const keys = new Map<TestCaller, Promise<string>>()

  const send = async (
    method: string,
    path: string,
    { as = 'anon', key, body, raw, headers }: RequestOptions = {},
  ): Promise<TestResponse> => {
    const secret = key ?? (as === 'admin' ? adminKey : as === 'anon' ? undefined : await keyOf(as))
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload }),
    })
    const text = await response.text()
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      json = undefined
    }
    return { status: response.status, headers: response.headers, text, json }
  }

  const makeKey = async (options: JsonObject): Promise<string> => {
    const { json } = await send('POST', '/admin/keys', { as: 'admin', body: options })
    return String(json.key)
  }

  const keyOf = (who: TestCaller): Promise<string> => {
    const key = keys.get(who) ?? makeKey({ subject: who, scopes: SCOPES[who] ?? [] })
    keys.set(who, key)
    return key
  }

  return {
    get url() {
      return url
    },
    adminKey,
    get seen() {
      return new Set(checks.flatMap(({ seen }) => [...seen]))
    },
    get: (path, options) => send('GET', path, options),
    head: (path, options) => send('HEAD', path, options),
    post: (path, options) => send('POST', path, options),
    put: (path, options) => send('PUT', path, options),
    patch: (path, options) => send('PATCH', path, options),
    delete: (path, options) => send('DELETE', path, options),
    makeKey,
    async clear() {
      for (;;) {
        const listed: { id: string }[] = []
        for (const query of ['top=100', 'top=100&status=inactive,suspended']) {
          listed.push(...(await send('GET', `/agents?${query}`, { as: 'admin' })).json)
        }
        if (listed.length === 0) break
        await Promise.all(listed.map(({ id }) => send('DELETE', `/agents/${encodeURIComponent(id)}`, { as: 'admin' })))
      }
      const { json } = await send('GET', '/admin/grants', { as: 'admin' })
      for (const { id } of json.grants) await send('DELETE', `/admin/grants/${id}`, { as: 'admin' })
    },
    async restart(more) {
      await server.close()
      server = await start(more)
      url = await server.listen()
    },
    async close() {
      await server.close()
      await database?.drop()
      rmSync(data, { recursive: true, force: true })
      for (const check of checks) check.assertDeclared()
    },
  }
}
