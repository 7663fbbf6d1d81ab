import { getEventListeners, setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import type { AgentCall } from '../../src/gateway/gateway.js'
import { callOf, createTestGateway, endpoint, failure, startHttpAgent, startRawAgent } from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

const JSON_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'

describe('10,000 failed calls', () => {
  const FAULTS: Record<string, (socket: Socket) => void> = {
    reset: (socket) => socket.resetAndDestroy(),
    half: (socket) => socket.end(`${JSON_HEAD}content-length: 100\r\n\r\n{"a":`),
    broken: (socket) => socket.write(`${JSON_HEAD}content-length: 5\r\n\r\n{"a":`),
    headers: (socket) => socket.write(`HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(20_000)}\r\n`),
    redirect: (socket) => socket.write('HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'),
    hang: () => {},
  }

  it('leave no sockets, listeners, timers or memory behind', async () => {
    const agents = await Promise.all(
      Object.values(FAULTS).map((fault) =>
        startRawAgent((socket) => socket.on('data', () => fault(socket)).on('end', () => socket.end())),
      ),
    )
    const nobody = await startHttpAgent(() => {})
    await nobody.close()
    const gateway = createTestGateway({ retries: 0 })
    open.push(gateway, ...agents)
    const targets = [...agents.map(({ url }) => endpoint(url)), endpoint(nobody.url), endpoint('https://10.0.0.1/')]
    const hanging = agents[Object.keys(FAULTS).indexOf('hang')]
    const caller = new AbortController()
    setMaxListeners(100, caller.signal) // one per concurrent call

    let made = 0
    const codes = new Set<string>()
    const one = async (): Promise<void> => {
      const n = made++
      const target = targets[n % targets.length] ?? endpoint(nobody.url)
      const timeoutMs = target.url === hanging?.url ? 30 : 10_000
      const call: AgentCall = callOf(target, { agent: `a${n}`, timeoutMs, signal: caller.signal })
      codes.add((await failure(gateway.call(call))).code)
    }
    const run = async (until: number): Promise<void> => {
      const worker = async (): Promise<void> => {
        while (made < until) await one()
      }
      await Promise.all(Array.from({ length: 20 }, worker))
    }
    const count = (): Record<string, number> => {
      const resources: Record<string, number> = {}
      for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
      return resources
    }
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const heap = async (): Promise<number> => {
      for (let i = 0; i < 3; i++) {
        collect()
        await sleep(10)
      }
      return process.memoryUsage().heapUsed
    }

    const before = count()
    await run(4000)
    const heapBefore = await heap()
    await run(10_000)
    expect([...codes].sort()).toEqual(['bad_response', 'blocked', 'timeout', 'unreachable'])

    expect(getEventListeners(caller.signal, 'abort')).toEqual([])
    // The circuit breakers of 6,000 more agents stay in memory, a few hundred bytes each.
    expect((await heap()) - heapBefore).toBeLessThan(8 * 1024 * 1024)
    // Idle connections in the pool close after some seconds.
    while (agents.some(({ sockets }) => sockets.size > 0)) await sleep(50)
    const after = count()
    expect(after.TCPSocketWrap ?? 0).toBeLessThanOrEqual(before.TCPSocketWrap ?? 0)
    expect(after.Timeout ?? 0).toBeLessThanOrEqual((before.Timeout ?? 0) + 5)
  })
})
