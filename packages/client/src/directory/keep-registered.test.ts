import type { JsonObject } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { ClientError } from '../errors.js'
import { type KeepRegisteredOptions, type KeptRegistration, keepRegistered } from './keep-registered.js'
import type { Registration } from './register.js'

type Outcome = 'good' | 'gone' | 'down' | 'busy' | 'refused'

interface Scenario extends Omit<KeepRegisteredOptions, 'document' | 'runtime'> {
  readonly document?: KeepRegisteredOptions['document']
  /** The outcome of each request to register or refresh; after the last one, the signal aborts. */
  readonly outcomes: readonly Outcome[]
  /** Milliseconds by which the wall clock is set during each wait. */
  readonly step?: number
}

const ERRORS: Record<Exclude<Outcome, 'good'>, ClientError> = {
  gone: new ClientError('not_found', 'no such registration', { status: 404 }),
  down: new ClientError('unreachable', 'the directory is not responding'),
  busy: new ClientError('rate_limited', 'too many requests', { status: 429, retryAfter: 20 }),
  refused: new ClientError('permission_denied', 'another owner has the id', { status: 403 }),
}

/** Runs `keepRegistered` with a fake directory and clock; returns what happened. */
async function runScenario({ outcomes, step = 0, document = { name: 'x' }, ...options }: Scenario) {
  const events: string[] = []
  const sent: JsonObject[] = []
  const waits: number[] = []
  const removed: unknown[] = []
  const aborting = new AbortController()
  const script = [...outcomes]
  let time = Date.parse('2030-01-01T00:00:00Z')
  let elapsed = 0
  const next = (): void => {
    const outcome = script.shift()
    if (outcome !== undefined && outcome !== 'good') throw ERRORS[outcome]
  }
  const registration: Registration = { id: 'x', created: true, href: 'http://d/ad/r/1', document: {}, warnings: [] }
  const client = {
    async register(body: JsonObject) {
      events.push('register')
      sent.push(body)
      next()
      return registration
    },
    async refresh(_: unknown, { changes }: { changes?: JsonObject } = {}) {
      events.push('refresh')
      if (changes) sent.push(changes)
      next()
    },
    async remove(agent: unknown) {
      events.push('remove')
      removed.push(agent)
    },
  }
  let kept: KeptRegistration | undefined
  let failure: unknown
  try {
    kept = await keepRegistered(client, {
      document,
      lifetime: 100,
      signal: aborting.signal,
      onRegistered: ({ id }) => events.push(`registered ${id}`),
      onError: (error) => events.push(error instanceof ClientError ? error.code : String(error)),
      ...options,
      runtime: {
        now: () => time,
        monotonic: () => elapsed,
        random: () => 0.5,
        async sleep(ms) {
          waits.push(ms)
          time += ms + step
          elapsed += ms
          if (script.length === 0) aborting.abort()
        },
      },
    })
    await kept.closed
  } catch (error) {
    failure = error
  }
  return { events, sent, waits, removed, kept, failure }
}

describe('keepRegistered', () => {
  it('PROF-4.8-06 PROF-4.8-07 renews in time, each time with a later expiry, and finally removes the agent', async () => {
    const { events, sent, waits, removed } = await runScenario({ format: 'aidip', outcomes: ['good', 'good', 'good'] })
    expect(events).toEqual(['register', 'registered x', 'register', 'register', 'remove'])
    expect(waits).toEqual([65_000, 65_000, 65_000])
    expect(sent.map(({ updated_at, expires_at }) => [updated_at, expires_at])).toEqual([
      ['2030-01-01T00:00:00.000Z', '2030-01-01T00:01:40.000Z'],
      ['2030-01-01T00:01:05.000Z', '2030-01-01T00:02:45.000Z'],
      ['2030-01-01T00:02:10.000Z', '2030-01-01T00:03:50.000Z'],
    ])
    expect(removed).toEqual(['x'])
  })

  it('AD-2.1-01 refreshes a lease, registers again if it is gone, and removes it by its resource', async () => {
    const { events, sent, removed } = await runScenario({
      format: 'directory',
      outcomes: ['good', 'good', 'gone', 'good'],
    })
    expect(events).toEqual(['register', 'registered x', 'refresh', 'refresh', 'register', 'registered x', 'remove'])
    expect(sent).toEqual([{ name: 'x' }, { name: 'x' }])
    expect(removed).toMatchObject([{ href: 'http://d/ad/r/1' }])
  })

  it.each([-3_600_000, 3_600_000])('renews at the usual interval if the clock is set by %i ms', async (step) => {
    const { waits } = await runScenario({ format: 'directory', outcomes: ['good', 'good', 'good'], step })
    expect(waits).toEqual([65_000, 65_000, 65_000])
  })

  it('retries a renewal with back-off, and returns to the usual interval', async () => {
    const { events, waits } = await runScenario({ format: 'aidip', outcomes: ['good', 'down', 'down', 'good'] })
    expect(events.filter((event) => event === 'unreachable')).toHaveLength(2)
    expect(waits).toEqual([65_000, 750, 1500, 65_000])
  })

  it('retries the first registration while the directory is down or busy', async () => {
    const { events, waits, failure } = await runScenario({
      format: 'aidip',
      outcomes: ['down', 'down', 'busy', 'good'],
    })
    expect(failure).toBeUndefined()
    expect(events).toEqual([
      ...['register', 'unreachable', 'register', 'unreachable', 'register', 'rate_limited'],
      ...['register', 'registered x', 'remove'],
    ])
    // Retry-After is longer than the back-off would be.
    expect(waits).toEqual([750, 1500, 20_000, 65_000])
  })

  it('waits no longer than a minute between retries', async () => {
    const { waits } = await runScenario({ format: 'aidip', outcomes: [...Array<Outcome>(10).fill('down'), 'good'] })
    expect(Math.max(...waits.slice(0, 10))).toBe(60_000)
  })

  it('fails at once if the first registration is rejected', async () => {
    const { events, failure, kept } = await runScenario({ format: 'aidip', outcomes: ['refused'] })
    expect([failure, kept, events]).toEqual([ERRORS.refused, undefined, ['register']])
  })

  it('retries a rejected renewal, because the operator may fix the cause', async () => {
    const { events } = await runScenario({ format: 'aidip', outcomes: ['good', 'refused', 'good'] })
    expect(events).toEqual(['register', 'registered x', 'register', 'permission_denied', 'register', 'remove'])
  })

  it('can be cancelled before the first registration', async () => {
    const { failure, removed } = await runScenario({ format: 'aidip', outcomes: ['down'] })
    expect(failure).toMatchObject({ code: 'aborted' })
    expect(removed).toEqual([])
  })

  it('PROF-9-01 sends a change at once, and no document that has not changed', async () => {
    const refreshed: unknown[] = []
    let endWait = (): void => {}
    const sleep = (_: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        endWait = resolve
        signal.addEventListener('abort', () => resolve())
      })
    const client = {
      register: async () => ({ id: 'x', created: true, href: 'http://d/ad/r/1', document: {}, warnings: [] }),
      refresh: async (_: unknown, { changes }: { changes?: JsonObject } = {}) => {
        refreshed.push(changes)
      },
      remove: async () => {},
    }
    let version = 1
    const document = (): JsonObject => ({ name: 'x', version })
    const kept = await keepRegistered(client, { document, format: 'directory', runtime: { sleep } })
    endWait()
    await expect.poll(() => refreshed).toEqual([undefined])
    version = 2
    kept.changed()
    await expect.poll(() => refreshed).toEqual([undefined, { name: 'x', version: 2 }])
    await kept.close()
  })

  it('sends a signed document unchanged', async () => {
    const document = { name: 'x', signatures: [{ protected: 'e30', signature: 'AA' }] }
    expect((await runScenario({ format: 'aidip', document, outcomes: ['good'] })).sent).toEqual([document])
  })
})
