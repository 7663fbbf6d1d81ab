import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@switchboard/protocol'
import fc from 'fast-check'
import { expect } from 'vitest'
import { createServer, type Server } from '../../src/app.js'
import { READS, type Read } from './reads.js'
import {
  CALLERS,
  type CallerName,
  documentOf,
  follow,
  MAX_STEPS,
  OWNERS,
  type Step,
  steps,
  type Timed,
  withoutHidden,
} from './world.js'

/** A history that begins at a certain time, who reads afterwards, and what. */
interface World {
  readonly from: number
  /** Makes ids of this world different from those of others: an agent that is registered again keeps its marks. */
  readonly suffix: string
  readonly history: readonly Timed[]
  readonly caller: CallerName
  readonly reads: readonly Read[]
}

/** A directory without a network, whose clock moves only with the steps of a history. */
interface Twin {
  /** Plays a history and reads everything as the caller; then everything is removed. */
  play(world: World): Promise<Record<string, unknown>>
  close(): Promise<void>
}

const ADMIN = 'administrator-of-the-twins'
/** All times are in the past, so that `Last-Modified` is not limited by the real clock. */
const START = Date.parse('2026-02-03T04:05:06Z')
/** Milliseconds between steps. */
const STEP_MS = 700
/** A number that no registration has. */
const UNUSED_NUMBER = 999_999_999

async function createTwin(): Promise<Twin> {
  const data = mkdtempSync(join(tmpdir(), 'switchboard-twin-'))
  let time = START
  const server: Server = await createServer(
    {
      data,
      adminKey: ADMIN,
      logLevel: 'silent',
      search: { embedder: 'none' },
      rateLimits: { lookup: 1e6, search: 1e6 },
    },
    { now: () => time, monotonic: () => time - START },
  )
  const keys = new Map<string, string>()
  const numbers = new Map<string, number>()
  let grants: { id: string; subject: string }[] = []

  const send = async (
    method: Read['method'] | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    as: string,
    body?: JsonObject,
  ) => {
    const key = as === 'admin' ? ADMIN : keys.get(as)
    const response = await server.app.inject({
      method,
      url,
      headers: {
        'x-request-id': 'the-same-for-both',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { payload: JSON.stringify(body) }),
    })
    return { status: response.statusCode, headers: response.headers, text: response.body }
  }
  const succeed = async (...request: Parameters<typeof send>): Promise<JsonObject> => {
    const { status, text } = await send(...request)
    if (status >= 300) throw new Error(`${request[0]} ${request[1]}: ${status} ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }
  for (const subject of ['ann', 'ben', 'gus', 'sam', 'sam2']) {
    const { key } = await succeed('POST', '/admin/keys', 'admin', { subject, scopes: ['publish', 'discover'] })
    keys.set(subject, String(key))
  }

  const take = async (step: Step, at: number): Promise<void> => {
    if (step.kind === 'grant') {
      const { kind: _kind, ...grant } = step
      const { id } = await succeed('POST', '/admin/grants', 'admin', { ...grant, scopes: ['discover'] })
      grants.push({ id: String(id), subject: step.subject })
      return
    }
    if (step.kind === 'revoke') {
      for (const { id } of grants.filter(({ subject }) => subject === step.subject))
        await succeed('DELETE', `/admin/grants/${id}`, 'admin')
      grants = grants.filter(({ subject }) => subject !== step.subject)
      return
    }
    const { id } = step
    const owner = OWNERS[id.split('.')[0] ?? ''] ?? ''
    switch (step.kind) {
      case 'put': {
        const path = { aidip: '/agents', profile: '/discover/agents', directory: `/ad/r?agent=${id}` }[step.format]
        await succeed('POST', path, owner, documentOf(step, at, id.startsWith('hid')))
        break
      }
      case 'hide': {
        const content = { words: 'hides', tags: [], visibility: 'public', isPartlyPrivate: false } as const
        await succeed('POST', '/agents', owner, documentOf({ kind: 'put', id, format: 'aidip', content }, at, true))
        break
      }
      case 'refresh':
        await succeed('POST', `/ad/r/${numbers.get(id)}`, owner)
        break
      case 'remove':
        await succeed('DELETE', `/agents/${id}`, owner)
        numbers.delete(id)
        break
      case 'mark':
        await succeed('PATCH', `/admin/agents/${id}`, 'admin', step.marks)
    }
    if (step.kind !== 'put' || numbers.has(id)) return
    const { href } = await succeed('GET', `/ad/l?agent=${id}`, 'admin').then(({ agents }) => Object(agents)[0])
    numbers.set(id, Number(String(href).split('/').at(-1)))
  }

  const clear = async (): Promise<void> => {
    await Promise.all([...numbers.keys()].map((id) => succeed('DELETE', `/agents/${id}`, 'admin')))
    await Promise.all(grants.map(({ id }) => succeed('DELETE', `/admin/grants/${id}`, 'admin')))
    numbers.clear()
    grants = []
  }

  return {
    async play({ from, suffix, history, caller, reads }) {
      const seen: Record<string, unknown> = {}
      try {
        const rename = <T>(value: T): T =>
          JSON.parse(JSON.stringify(value).replaceAll(/\b(open|hid)-\d/g, (id) => id + suffix))
        for (const { at, step } of history) {
          time = from + at * STEP_MS
          await take(rename(step), at)
        }
        time = from + MAX_STEPS * STEP_MS
        for (const { method, url, body, agent } of rename(reads)) {
          const number = (agent === undefined ? undefined : numbers.get(agent)) ?? UNUSED_NUMBER
          const path = url.replace('{n}', String(number)).replace('{since}', sinceStart(from))
          const answer = await send(method, path, caller, body)
          seen[`${method} ${url} ${agent ?? ''} ${JSON.stringify(body) ?? ''}`] = comparable(answer)
        }
        return seen
      } finally {
        time = from + (MAX_STEPS + 1) * STEP_MS
        await clear()
      }
    },
    async close() {
      await server.close()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** A cursor of the change feed for what has changed in this world: what happened up to 30 s before it is sent again. */
const sinceStart = (from: number): string => `e.${(from + 30_000).toString(36)}`

/**
 * The response without what may differ between two directories: their keys and signatures, the numbers of registrations, which count all of them, and
 * how long a search took. Both may change the length.
 */
function comparable({ status, headers, text }: { status: number; headers: object; text: string }): unknown {
  // A revision is the time since a start, and differs in any case.
  const {
    date: _date,
    'content-length': _length,
    'x-directory-revision': _revision,
    'x-search-id': searchId,
    ...rest
  } = Object.fromEntries(Object.entries(headers))
  // The tag of the change feed is a digest of its body, with the signatures.
  if (text.includes('"jws":')) delete rest.etag
  // That of a card which the directory signs names its key.
  if (typeof rest.etag === 'string') rest.etag = rest.etag.replace(/(card\.managed\.\d\.\d\.)[\w-]{43}/, '$1')
  return {
    status,
    headers: { ...rest, searchId: masked(searchId) },
    text: text
      .replaceAll(/\/ad\/r\/\d+/g, '/ad/r/#')
      .replaceAll(/"search_id":"([^"]*)"/g, (_, id) => `"search_id":"${masked(id)}"`)
      .replaceAll(/"search_time":[\d.]+/g, '"search_time":0')
      .replaceAll(/"(jws|kid|protected|signature)":"[^"]*"/g, '')
      .replaceAll(/"cursor":"l\.([a-z\d]+)\.[a-z\d]+"/g, '"cursor":"l.$1"')
      .replaceAll(/"cursor":"p\.([a-z\d]+)\.[a-z\d]+"/g, '"cursor":"p.$1"'),
  }
}

/** A search id is encrypted with the key of its directory; its length could tell how many agents there are. */
const masked = (id: unknown): string => 'x'.repeat(String(id ?? '').length)

export interface Twins {
  /** Checks that what each caller reads is the same as if the agents hidden from it had never been there. */
  check(options: { worlds: number; readsPerWorld?: number }): Promise<void>
  close(): Promise<void>
}

/** Two directories: one with everything, and one without what the caller may not see. */
export async function createTwins(): Promise<Twins> {
  const [whole, shown] = await Promise.all([createTwin(), createTwin()])
  let from = START
  return {
    async check({ worlds, readsPerWorld = READS.length }) {
      const reads = fc.shuffledSubarray([...READS], { minLength: readsPerWorld, maxLength: readsPerWorld })
      await fc.assert(
        fc.asyncProperty(steps, fc.constantFrom(...CALLERS), reads, async (history, caller, some) => {
          from += (MAX_STEPS + 2) * STEP_MS
          const world = { from, suffix: `.${from.toString(36)}`, caller, reads: some }
          const [actual, expected] = await Promise.all([
            whole.play({ ...world, history: follow(history).done }),
            shown.play({ ...world, history: withoutHidden(history, caller) }),
          ])
          expect(actual).toEqual(expected)
        }),
        { numRuns: worlds },
      )
    },
    async close() {
      await Promise.all([whole.close(), shown.close()])
    },
  }
}
