import { ClientError, type Registration } from '@switchboard/client'
import type { JsonObject } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { type KeepPublishedDeps, keepPublished } from './keep-published.js'

interface Story {
  readonly format: 'aidip' | 'directory'
  readonly document?: JsonObject
  /** What happens at each renewal; the person interrupts after the last. */
  readonly renewals: readonly ('good' | 'forgotten' | 'broken')[]
}

/** Publishes with a directory and a clock made for the test, and tells what was done. */
async function publish({ format, document = { name: 'x' }, renewals }: Story) {
  const events: string[] = []
  const sent: JsonObject[] = []
  const waits: number[] = []
  const interrupted = new AbortController()
  const script = [...renewals]
  let time = Date.parse('2030-01-01T00:00:00Z')
  const play = (): void => {
    const next = script.shift()
    if (next === 'broken') throw new ClientError('unreachable', 'gone')
    if (next === 'forgotten') throw new ClientError('not_found', 'forgotten', { status: 404 })
  }
  const registration: Registration = { id: 'x', created: true, href: 'http://d/ad/r/1', document: {}, warnings: [] }
  let isFirst = true
  const deps: KeepPublishedDeps = {
    directory: {
      async register(body) {
        events.push('register')
        sent.push(body)
        if (!isFirst && format === 'aidip') play()
        isFirst = false
        return registration
      },
      async refresh() {
        events.push('refresh')
        play()
      },
      async remove() {
        events.push('remove')
      },
    },
    now: () => time,
    async sleep(ms) {
      waits.push(ms)
      time += ms
      if (script.length === 0) interrupted.abort()
    },
    random: () => 0.5,
    async onRegistered({ id }) {
      events.push(`registered ${id}`)
    },
    onFailure: ({ code }) => events.push(code),
  }
  await keepPublished(deps, { document, options: { format }, lifetime: 100, signal: interrupted.signal })
  return { events, sent, waits }
}

describe('keepPublished', () => {
  it('registers anew in time, each time with a later end, and removes at last', async () => {
    const { events, sent, waits } = await publish({ format: 'aidip', renewals: ['good', 'good'] })
    expect(events).toEqual(['register', 'registered x', 'register', 'register', 'remove'])
    expect(waits).toEqual([65_000, 65_000, 65_000])
    expect(sent.map(({ updated_at, expires_at }) => [updated_at, expires_at])).toEqual([
      ['2030-01-01T00:00:00.000Z', '2030-01-01T00:01:40.000Z'],
      ['2030-01-01T00:01:05.000Z', '2030-01-01T00:02:45.000Z'],
      ['2030-01-01T00:02:10.000Z', '2030-01-01T00:03:50.000Z'],
    ])
  })

  it('refreshes a lease, and registers again where it was forgotten', async () => {
    const { events, sent } = await publish({ format: 'directory', renewals: ['good', 'forgotten'] })
    expect(events).toEqual(['register', 'registered x', 'refresh', 'refresh', 'register', 'remove'])
    expect(sent).toEqual([{ name: 'x' }, { name: 'x' }])
  })

  it('is patient with failures, and sooner there again than usual', async () => {
    const { events, waits } = await publish({ format: 'aidip', renewals: ['broken', 'broken', 'good'] })
    expect(events.filter((event) => event === 'unreachable')).toHaveLength(2)
    expect(waits).toEqual([65_000, 1000, 2000, 65_000])
  })

  it('sends a signed document as it is', async () => {
    const signed = { name: 'x', signatures: [{ protected: 'e30', signature: 'AA' }] }
    expect((await publish({ format: 'aidip', document: signed, renewals: [] })).sent).toEqual([signed])
  })
})
