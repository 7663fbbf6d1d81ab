import { DirectoryError } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import type { Caller } from '../../policy/caller.js'
import type { AuditEntry, LoggedEntry } from '../../store/store.js'
import { type AuditTrail, createAuditTrail } from './audit-trail.js'

const caller = (subject: string | undefined, address = '192.0.2.1'): Caller => ({
  subject,
  kind: subject === undefined ? 'anonymous' : 'key',
  scopes: new Set(),
  address,
  requestId: 'r',
  ...(subject !== undefined && { keyId: `key-of-${subject}` }),
})
const ALICE = caller('alice')
const ANYBODY = caller(undefined)

/** An audit store whose first writes fail, as many as given. */
function auditStore(failures = 0) {
  const written: AuditEntry[][] = []
  const appendAudit = async (entries: AuditEntry[]): Promise<void> => {
    if (failures-- > 0) throw new Error('the store is unavailable')
    written.push(entries)
  }
  const audit = async (): Promise<LoggedEntry[]> =>
    written
      .flat()
      .toReversed()
      .map((entry, i) => ({ cursor: `0.${i}`, entry }))
  const auditAfter = async (cursor = '0'): Promise<LoggedEntry[]> =>
    written
      .flat()
      .map((entry, i) => ({ cursor: String(i + 1), entry }))
      .slice(Number(cursor), Number(cursor) + 2)
  return { written, store: { appendAudit, audit, auditAfter } }
}

/** A trail whose clock counts the entries. */
function startTrail(failures = 0, addresses = true) {
  const { written, store } = auditStore(failures)
  const errors: unknown[] = []
  let time = 0
  const trail = createAuditTrail({ store, now: () => ++time, addresses, onError: (error) => errors.push(error) })
  return { trail, written, errors }
}

const invoke = (trail: AuditTrail, agent = 'a', by = ALICE): void => trail.record(by, 'invoke', { agent })
const refuse = (trail: AuditTrail, by: Caller, agent: string, reason = 'not yours'): void =>
  trail.refused(new DirectoryError('forbidden', reason), by, { action: 'request', agent, route: 'GET /agents/:id' })

describe('the audit trail', () => {
  it('writes entries in batches, in order', async () => {
    const { trail, written } = startTrail()
    for (let i = 0; i < 2500; i++) invoke(trail)
    await trail.flush()
    expect(written.map(({ length }) => length)).toEqual([1000, 1000, 500])
    expect(written.flat().map(({ at }) => at)).toEqual(Array.from({ length: 2500 }, (_, i) => i + 1))
  })

  it('keeps entries while the store is unavailable', async () => {
    const { trail, written, errors } = startTrail(2)
    invoke(trail, 'a')
    await trail.flush()
    invoke(trail, 'b')
    await trail.flush()
    expect([written, errors.length]).toEqual([[], 2])
    await trail.flush()
    expect(written.flat().map(({ agent }) => agent)).toEqual(['a', 'b'])
  })

  it('returns entries that have not been written yet, newest first', async () => {
    const { trail } = startTrail()
    invoke(trail, 'a')
    invoke(trail, 'b')
    expect((await trail.read({ limit: 10 })).map(({ entry }) => entry.agent)).toEqual(['b', 'a'])
  })

  it('writes entries without an explicit flush', async () => {
    const { trail, written } = startTrail()
    invoke(trail)
    await expect.poll(() => written.length).toBe(1)
  })

  it('returns the whole log in order, page by page, from any position', async () => {
    const { trail } = startTrail()
    for (const agent of ['a', 'b', 'c', 'd', 'e']) invoke(trail, agent)
    const agentsAfter = async (cursor?: string, filter = {}) => {
      const pages: (string | undefined)[][] = []
      for await (const page of trail.follow(cursor, filter)) pages.push(page.map(({ entry }) => entry.agent))
      return pages
    }
    expect(await agentsAfter()).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(await agentsAfter('3')).toEqual([['d', 'e']])
    expect(await agentsAfter('5')).toEqual([])
    expect(await agentsAfter(undefined, { agent: 'd' })).toEqual([[], ['d'], []])
  })
})

describe('entries that repeat', () => {
  it('are merged: the first is written at once, the others as a count', async () => {
    const { trail, written } = startTrail()
    for (let i = 0; i < 100; i++) refuse(trail, ALICE, 'a', `wait ${i} s`)
    await trail.flush()
    expect(written.flat()).toEqual([
      {
        at: 1,
        actor: 'alice',
        action: 'request',
        outcome: 'refused',
        agent: 'a',
        address: '192.0.2.1',
        requestId: 'r',
        detail: 'forbidden: GET /agents/:id: wait 0 s',
      },
    ])
    await trail.close()
    expect(written.flat()[1]).toMatchObject({ at: 100, count: 99, detail: 'forbidden: GET /agents/:id: wait 0 s' })
    expect(written.flat()).toHaveLength(2)
  })

  it('of one stranger fill the log with no more than a few entries, however different they are', async () => {
    const { trail, written } = startTrail()
    for (let i = 0; i < 10_000; i++) refuse(trail, caller(undefined, `2001:db8::${i.toString(16)}`), `agent-${i}`)
    for (let i = 0; i < 10_000; i++) trail.record(ANYBODY, 'resolve', { outcome: 'refused', detail: `${i}` })
    await trail.close()
    expect(written.flat().length).toBeLessThan(30)
    const counted = written.flat().reduce((sum, { count = 1 }) => sum + count, 0)
    expect(counted).toBe(20_000)
  })

  it('of many strangers fill it no more than those of a few hundred', async () => {
    const { trail, written } = startTrail()
    for (let i = 0; i < 50_000; i++) refuse(trail, caller(undefined, `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`), 'a')
    refuse(trail, ALICE, 'b')
    await trail.close()
    expect(written.flat().length).toBeLessThan(500)
    expect(written.flat().filter(({ actor }) => actor === 'alice')).toHaveLength(1)
  })

  it('are all kept if a known subject was allowed to act, or called an agent', async () => {
    const { trail, written } = startTrail()
    for (let i = 0; i < 1000; i++) invoke(trail)
    const refusal = () => new DirectoryError('forbidden', 'no grant')
    for (let i = 0; i < 10; i++) trail.refused(refusal(), ALICE, { action: 'invoke', agent: 'a', unmerged: true })
    await trail.close()
    expect(written.flat()).toHaveLength(1010)
  })
})

describe('a refusal', () => {
  it('is recorded once, by whoever knows most about it', async () => {
    const { trail, written } = startTrail()
    const error = new DirectoryError('conflict', 'the name "a" belongs to another publisher')
    trail.refused(error, ALICE, { action: 'register', agent: 'a', always: true })
    trail.refused(error, ALICE, { action: 'request', route: 'POST /agents' })
    await trail.close()
    expect(written.flat()).toMatchObject([{ action: 'register', agent: 'a', detail: `conflict: ${error.message}` }])
  })

  it('does not quote errors that may contain the request, nor record other errors', async () => {
    const { trail, written } = startTrail()
    const wrong = new DirectoryError('invalid_request', '/text is "my private words"')
    trail.refused(wrong, ALICE, { action: 'request' })
    trail.refused(new Error('a bug'), ALICE, { action: 'request' })
    trail.refused(wrong, ALICE, { action: 'invoke', agent: 'a', always: true })
    await trail.close()
    expect(written.flat()).toMatchObject([{ action: 'invoke', detail: 'invalid_request' }])
    expect(JSON.stringify(written)).not.toContain('private')
  })

  it('has no address if the operator wants none', async () => {
    const { trail, written } = startTrail(0, false)
    refuse(trail, ANYBODY, 'a')
    trail.signedIn(ALICE)
    await trail.close()
    expect(JSON.stringify(written)).not.toContain('192.0.2.1')
    expect(written.flat()).toHaveLength(2)
  })
})

describe('a sign-in', () => {
  it('is recorded once for each credential and address', async () => {
    const { trail, written } = startTrail()
    for (let i = 0; i < 1000; i++) {
      trail.signedIn(ALICE)
      trail.signedIn({ ...ALICE, keyId: 'another' })
      trail.signedIn(caller('alice', '192.0.2.2'))
      trail.signedIn(ANYBODY)
    }
    await trail.close()
    expect(written.flat().map(({ actor, address, detail }) => [actor, address, detail])).toEqual([
      ['alice', '192.0.2.1', 'key key-of-alice'],
      ['alice', '192.0.2.1', 'key another'],
      ['alice', '192.0.2.2', 'key key-of-alice'],
    ])
  })
})
