import { isObject, type JsonObject } from '@switchboard/protocol'
import { expect } from 'vitest'
import { aidipAgent, fixture } from './documents.js'

export interface LoadOptions {
  readonly url: string
  readonly token: string
  readonly clients: number
  /** The document of an agent that can be called. */
  readonly callee: JsonObject
}

/** Clients that send requests of every kind, one after the other, until they are stopped. */
export interface Load {
  /** Requests that failed. */
  readonly failures: readonly string[]
  /** Waits until every client has sent all kinds of requests this many times more. */
  rounds(count: number): Promise<void>
  /** Waits for the requests in progress; later calls change nothing. */
  stop(): Promise<void>
  /** What was acknowledged, but is not in the directory at `url`. */
  missingAt(url: string): Promise<string[]>
}

const LIMIT = { timeout: 60_000 }
/** Tasks that are looked at in the end; the directory keeps the latest 200 of a subject that have ended. */
const TASKS = 150
/** Milliseconds after which a request counts as failed. */
const REQUEST_MS = 20_000

/** Requests that a client repeats, as `@switchboard/client` does. */
const MAX_REPEATS = 5
const isBehind = ({ status, text }: { readonly status: number; readonly text: string }): boolean =>
  status === 503 && text.includes('has not caught up with')

/** Registers the agents that the clients use, and starts the clients. */
export async function startLoad({ url, token, clients, callee }: LoadOptions): Promise<Load> {
  const failures: string[] = []
  /** The last acknowledged version of an agent; undefined after it was removed. */
  const versions = new Map<string, string | undefined>()
  const tasks: string[] = []
  const done = new Array<number>(clients).fill(0)
  let isStopped = false

  /** Sends requests that see what earlier ones have written, whichever replica serves them. */
  const createSession = (base: string, since = '') => {
    let revision = since
    return async (method: string, path: string, body?: JsonObject, more: Record<string, string> = {}) => {
      const response = await fetch(base + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(revision !== '' && { 'min-revision': revision }),
          ...(body && { 'content-type': 'application/json' }),
          ...more,
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_MS),
      })
      const text = await response.text()
      revision = response.headers.get('x-directory-revision') ?? revision
      const location = response.headers.get('location') ?? ''
      return { status: response.status, isOk: response.ok, text, location, revision }
    }
  }

  const run = async (client: number, registration: string, revision: string): Promise<void> => {
    const send = createSession(url, revision)
    const attempt = async (...request: Parameters<typeof send>) => {
      try {
        let response = await send(...request)
        // A replica that has just started on a busy machine may need a moment to reach the revision that we demand of it.
        for (let i = 0; i < MAX_REPEATS && isBehind(response); i++) response = await send(...request)
        if (response.isOk) return response
        failures.push(`${request[0]} ${request[1]}: ${response.status} ${response.text}`)
      } catch (error) {
        failures.push(`${request[0]} ${request[1]}: ${String(error)} ${error instanceof Error ? error.cause : ''}`)
      }
      return undefined
    }
    const changed = `changed-${client}`
    for (let turn = 0; !isStopped; turn++) {
      const round = String(turn)
      const added = `added-${client}-${round}`
      const put = (id: string) => attempt('PUT', `/agents/${id}`, aidipAgent({ id, version: round }))
      if (await put(changed)) versions.set(changed, round)
      if (await attempt('POST', '/agents', aidipAgent({ id: added, version: round }))) versions.set(added, round)
      await attempt('POST', registration)
      await attempt('POST', '/agents/search', { query: 'echo' })
      await attempt('POST', '/discover', { query: 'probe' })
      await attempt('GET', '/ad/l?cap_name=probe&count=10')
      await attempt('GET', `/agents/${changed}`)
      await attempt('POST', '/agents/x/invoke', { text: 'hello' })
      const task = await attempt('POST', '/agents/x/invoke', { text: 'later' }, { prefer: 'respond-async' })
      if (task) tasks.push(task.location)
      if (turn % 2 === 1 && (await attempt('DELETE', `/agents/${added}`))) versions.set(added, undefined)
      done[client] = turn + 1
    }
  }

  const first = createSession(url)
  expect((await first('POST', '/agents', callee)).status).toBe(201)
  const registrations: string[] = []
  let revision = ''
  for (let client = 0; client < clients; client++) {
    expect((await first('POST', '/agents', aidipAgent({ id: `changed-${client}` }))).status).toBe(201)
    const registered = await first('POST', `/ad/r?agent=renewed-${client}`, fixture('FX-SUM'))
    expect(registered.status).toBe(201)
    registrations.push(registered.location)
    revision = registered.revision
  }
  const running = Promise.all(registrations.map((registration, client) => run(client, registration, revision)))

  return {
    failures,
    async rounds(count) {
      const goal = done.map((rounds) => rounds + count)
      await expect.poll(() => done.every((rounds, client) => rounds >= Number(goal[client])), LIMIT).toBe(true)
    },
    async stop() {
      isStopped = true
      await running
    },
    async missingAt(base) {
      const send = createSession(base)
      const missing: string[] = []
      for (const [id, version] of versions) {
        const { status, text } = await send('GET', `/agents/${id}`)
        const found: unknown = status === 200 ? JSON.parse(text) : undefined
        const stored = isObject(found) ? found.version : undefined
        if (stored !== version) missing.push(`${id}: version ${String(stored)} instead of ${version}`)
      }
      const open = new Set(tasks.slice(-TASKS))
      const ended = async (): Promise<number> => {
        for (const task of open) {
          const { text } = await send('GET', task)
          const { status } = Object(JSON.parse(text))
          if (status === 'running' || status === 'pending') continue
          open.delete(task)
          if (status !== 'completed') missing.push(`${task}: ${text}`)
        }
        return open.size
      }
      await expect.poll(ended, LIMIT).toBe(0)
      return missing
    },
  }
}
