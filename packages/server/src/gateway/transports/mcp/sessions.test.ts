import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../gateway.js'
import type { McpDialogue } from './dialogue.js'
import { createMcpSessions } from './sessions.js'

/** Sessions with a server that numbers them. */
function start({ limit = 10, fails = false }: { limit?: number; fails?: boolean } = {}) {
  let at = 0
  let opened = 0
  const dialogue: McpDialogue = {
    async request() {
      opened++
      if (fails) throw new GatewayError('unreachable', 'nobody is there')
      return { reply: { kind: 'result', result: { protocolVersion: '2025-06-18' } }, session: `s${opened}` }
    },
    tell() {},
    leave() {},
  }
  const sessions = createMcpSessions({ dialogue, newId: () => 'i', now: () => at, limit })
  const signal = new AbortController().signal
  return {
    sessions,
    count: () => opened,
    pass: (ms: number) => {
      at += ms
    },
    open: (who: string, own = signal) =>
      sessions.open({ endpoint: 'https://a.example/', headers: { authorization: who, 'x-request-id': `${at}` } }, own),
  }
}

describe('sessions of MCP', () => {
  it('are given up after ten minutes without a call', async () => {
    const { open, pass, count } = start()
    await open('a')
    pass(599_999)
    await open('a')
    pass(600_000)
    await open('a')
    expect(count()).toBe(2)
  })

  it('are no more than the limit: the one that was used longest ago goes', async () => {
    const { open, count } = start({ limit: 2 })
    for (const who of ['a', 'b', 'a', 'c', 'a']) await open(who)
    expect(count()).toBe(3)
    await open('b')
    expect(count()).toBe(4)
  })

  it('that could not be opened are tried again by the next call', async () => {
    const { open, count } = start({ fails: true })
    await expect(open('a')).rejects.toMatchObject({ code: 'unreachable' })
    await expect(open('a')).rejects.toMatchObject({ code: 'unreachable' })
    expect(count()).toBe(2)
  })

  it('go on being opened for others when one of those who wait goes away', async () => {
    const { open } = start()
    const caller = new AbortController()
    const mine = open('a', caller.signal)
    const theirs = open('a')
    caller.abort()
    await expect(mine).rejects.toMatchObject({ code: 'cancelled' })
    expect(await theirs).toMatchObject({ kind: 'session', session: { id: 's1' } })
  })

  it('are forgotten once, however many calls lost them', async () => {
    const { sessions, open, count } = start()
    const place = { endpoint: 'https://a.example/', headers: { authorization: 'a' } }
    const lost = await open('a')
    sessions.forget(place, lost)
    await open('a')
    sessions.forget(place, lost)
    await open('a')
    expect(count()).toBe(2)
  })
})
