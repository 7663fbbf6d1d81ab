import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../gateway.js'
import type { McpClient } from './mcp-client.js'
import { createMcpSessions } from './mcp-sessions.js'

/** Sessions with a server that numbers them. */
function start({ limit = 10, fails = false }: { limit?: number; fails?: boolean } = {}) {
  let at = 0
  let opened = 0
  const client: McpClient = {
    async request(_target, { method }) {
      const failure = { status: 400, value: {} }
      if (method === 'server/discover') return { reply: { kind: 'failure', failure } }
      opened++
      if (fails) throw new GatewayError('unreachable', 'connection refused')
      return { reply: { kind: 'result', result: { protocolVersion: '2025-06-18' } }, session: `s${opened}` }
    },
    notify() {},
    endSession() {},
  }
  const sessions = createMcpSessions({ client, newId: () => 'i', monotonic: () => at, limit })
  const signal = new AbortController().signal
  return {
    sessions,
    count: () => opened,
    pass: (ms: number) => {
      at += ms
    },
    open: (credential: string, callSignal = signal) =>
      sessions.open(
        { url: 'https://a.example/', headers: { authorization: credential, 'x-request-id': `${at}` } },
        callSignal,
      ),
  }
}

describe('MCP sessions', () => {
  it('expire after ten minutes without a call', async () => {
    const { open, pass, count } = start()
    await open('a')
    pass(599_999)
    await open('a')
    pass(600_000)
    await open('a')
    expect(count()).toBe(2)
  })

  it('are limited in number: the least recently used is dropped', async () => {
    const { open, count } = start({ limit: 2 })
    for (const credential of ['a', 'b', 'a', 'c', 'a']) await open(credential)
    expect(count()).toBe(3)
    await open('b')
    expect(count()).toBe(4)
  })

  it('are opened again by the next call if opening failed', async () => {
    const { open, count } = start({ fails: true })
    await expect(open('a')).rejects.toMatchObject({ code: 'unreachable' })
    await expect(open('a')).rejects.toMatchObject({ code: 'unreachable' })
    expect(count()).toBe(2)
  })

  it('are still opened for the others when one of the waiting callers cancels', async () => {
    const { open } = start()
    const caller = new AbortController()
    const mine = open('a', caller.signal)
    const theirs = open('a')
    caller.abort()
    await expect(mine).rejects.toMatchObject({ code: 'cancelled' })
    expect(await theirs).toMatchObject({ kind: 'session', session: { id: 's1' } })
  })

  it('are dropped once, however many calls lost them', async () => {
    const { sessions, open, count } = start()
    const target = { url: 'https://a.example/', headers: { authorization: 'a' } }
    const lost = await open('a')
    sessions.drop(target, lost)
    await open('a')
    sessions.drop(target, lost)
    await open('a')
    expect(count()).toBe(2)
  })
})
