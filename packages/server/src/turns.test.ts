import Fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mountRoutes } from './faces/mount.js'
import type { Route } from './faces/route-group.js'
import { createSessionCookies } from './faces/session/session-cookies.js'
import { createResponseBody } from './gateway/http/response-body.js'
import { createRateLimits } from './policy/rate-limit.js'
import type { AuditTrail } from './services/operations/audit-trail.js'
import { createTurns } from './turns.js'

/** Turns of the event loop so far. */
let turn = 0
let timer: NodeJS.Immediate
const count = (): void => {
  turn++
  timer = setImmediate(count)
}
beforeEach(() => count())
afterEach(() => clearImmediate(timer))

/** Works without a pause for longer than the share of a turn that requests have; returns the turn. */
function work(): number {
  const end = performance.now() + 15
  while (performance.now() < end);
  return turn
}

const isIncreasing = (turns: readonly number[]): boolean =>
  turns.every((each, i) => i === 0 || each > (turns[i - 1] ?? 0))

describe('work that may be costly', () => {
  it('starts at once if the turn has not been used up', async () => {
    const waitForTurn = createTurns()
    expect(waitForTurn()).toBeUndefined()
    expect(waitForTurn()).toBeUndefined()
  })

  it('waits for a later turn of the event loop otherwise, and those that wait keep their order', async () => {
    const waitForTurn = createTurns(5)
    const turns: number[] = []
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const turn = waitForTurn()
        if (turn) await turn
        turns.push(work())
      }),
    )
    expect(turns).toHaveLength(5)
    expect(isIncreasing(turns)).toBe(true)
  })

  it('shares a turn with other short work that waits', async () => {
    const waitForTurn = createTurns(5)
    waitForTurn()
    work()
    const turns = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const turn = waitForTurn()
        if (turn) await turn
        return turn
      }),
    )
    expect(new Set(turns).size).toBeLessThan(5)
  })
})

const NO_TRAIL: AuditTrail = {
  record() {},
  refused() {},
  signedIn() {},
  read: async () => [],
  async *follow() {},
  async flush() {},
  async close() {},
}

describe('requests that arrive together', () => {
  const serve = async (paths: readonly string[]): Promise<[string, number][]> => {
    const turns: [string, number][] = []
    const routes = [...new Set(paths)].map(
      (path): Route => ({
        method: 'GET',
        path,
        summary: '',
        access: 'open',
        responses: {},
        handle: () => {
          turns.push([path, work()])
          return 'done'
        },
      }),
    )
    const app = Fastify()
    mountRoutes(app, [{ name: 'test', summary: 'For tests', errors: 'application/json', routes }], {
      sessions: createSessionCookies({ sessions: undefined, secure: false, baseUrl: () => '', now: Date.now }),
      authenticate: () => ({ subject: undefined, kind: 'anonymous', scopes: new Set(), address: '', requestId: '' }),
      limits: createRateLimits(
        { search: 1, register: 1, lookup: 1, invoke: 1 },
        { monotonic: () => performance.now() },
      ),
      isStopping: () => false,
      trail: NO_TRAIL,
      onCaller() {},
      revisions: { current: () => '', reach: () => undefined },
      warnings: () => [],
      anonymous: 'public',
      behindProxy: false,
      origins: [],
      metrics: { request() {}, error() {} },
      metricsToken: undefined,
      traces: undefined,
      accessLog: false,
      baseUrl: () => '',
    })
    await app.ready()
    await Promise.all(paths.map((path) => app.inject(path)))
    await app.close()
    return turns
  }

  it('do not all use the same turn of the event loop', async () => {
    const turns = (await serve(['/a', '/a', '/a', '/a'])).map(([, each]) => each)
    expect(turns).toHaveLength(4)
    expect(isIncreasing(turns)).toBe(true)
  })

  it('do not delay the probe of the process', async () => {
    const [, ...rest] = await serve(['/a', '/a', '/a', '/health/live'])
    expect(rest.slice(1).map(([path]) => path)).toEqual(['/a', '/a'])
  })
})

it('the responses of several agents that arrive together do not all use the same turn of the event loop', async () => {
  const turns: number[] = []
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      const body = createResponseBody({ silenceMs: 60_000, pause() {}, resume() {}, cancel() {} })
      setImmediate(() => {
        body.push(Buffer.from('[]'))
        body.end()
      })
      for await (const _ of body) turns.push(work())
    }),
  )
  expect(turns).toHaveLength(4)
  expect(isIncreasing(turns)).toBe(true)
})
