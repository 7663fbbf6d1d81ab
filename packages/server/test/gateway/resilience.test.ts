import { eachPart } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/gateway/call-agent.js'
import type { AgentCall } from '../../src/gateway/gateway.js'
import {
  callOf,
  createTestGateway,
  endpoint,
  failure,
  gather,
  sendJson,
  startHttpAgent,
  startRawAgent,
} from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

function gatewayOf(...given: Parameters<typeof createTestGateway>) {
  const gateway = createTestGateway(...given)
  open.push(gateway)
  return gateway
}
async function agentOf(listener: Parameters<typeof startHttpAgent>[0]) {
  const agent = await startHttpAgent(listener)
  open.push(agent)
  return agent
}
/** A port without a listener. */
async function deadEnd(): Promise<string> {
  const agent = await startHttpAgent(() => {})
  await agent.close()
  return agent.url
}
describe('several endpoints', () => {
  it('C-19 are tried in order until one can be reached', async () => {
    const agent = await agentOf((_, response) => sendJson(response, 1))
    const second = endpoint(agent.url)
    const endpoints = [
      endpoint(await deadEnd()),
      { ...endpoint('https://10.0.0.1/') },
      endpoint('grpc://x', 'mcp'),
      second,
      endpoint(agent.url),
    ]
    const answer = await gatewayOf().call(callOf(endpoints))
    expect(answer.endpoint).toBe(second)
    expect(agent.connections()).toBe(1)
  })

  it('AIDIP-5.3-07 are not tried once the first may have started the work', async () => {
    const broken = await startRawAgent((socket) => socket.on('data', () => socket.destroy()))
    const agent = await agentOf((_, response) => sendJson(response, 1))
    open.push(broken)
    const gateway = gatewayOf()
    const endpoints = [endpoint(broken.url), endpoint(agent.url)]
    expect(await failure(gateway.call(callOf(endpoints)))).toMatchObject({ code: 'unreachable', mayHaveRun: true })
    expect(agent.connections()).toBe(0)
    expect(await gateway.call(callOf(endpoints, { idempotent: true }))).toMatchObject({ endpoint: endpoints[1] })
  })

  it('without a supported protocol make the agent not invocable', async () => {
    const gateway = gatewayOf()
    const call: AgentCall = callOf([])
    expect(await failure(gateway.call(call))).toMatchObject({ code: 'not_invocable', mayHaveRun: false })
  })
})

describe('retries', () => {
  it('are made if nothing was sent, up to the limit', async () => {
    const url = await deadEnd()
    let attempts = 0
    const gateway = gatewayOf(
      { retries: 3 },
      {
        random: () => {
          attempts++
          return 0
        },
      },
    )
    expect(await failure(gateway.call(callOf(url)))).toMatchObject({ code: 'unreachable', mayHaveRun: false })
    // Before each retry, and once more when none is left.
    expect(attempts).toBe(4)
  })

  it('AIDIP-5.3-07 are not made if the call may have run, unless it is idempotent', async () => {
    let calls = 0
    const broken = await startRawAgent((socket) =>
      socket.on('data', () => {
        calls++
        socket.destroy()
      }),
    )
    open.push(broken)
    const gateway = gatewayOf({ retries: 2 })
    expect(await failure(gateway.call(callOf(broken.url)))).toMatchObject({ mayHaveRun: true })
    expect(calls).toBe(1)
    await failure(gateway.call(callOf(broken.url, { idempotent: true })))
    expect(calls).toBe(4)
  })

  it('are not made for responses of the agent', async () => {
    let calls = 0
    const agent = await agentOf((_, response) => {
      calls++
      sendJson(response, {}, 503)
    })
    expect(await gatewayOf().call(callOf(agent.url, { idempotent: true }))).toMatchObject({ status: 503 })
    expect(calls).toBe(1)
  })

  it('are limited to a small share of the calls when everything fails', async () => {
    let calls = 0
    const broken = await startRawAgent((socket) =>
      socket.on('data', () => {
        calls++
        socket.destroy()
      }),
    )
    open.push(broken)
    const gateway = gatewayOf({ retries: 3 })
    for (let i = 0; i < 200; i++) {
      await failure(gateway.call(callOf(broken.url, { agent: `a${i}`, idempotent: true })))
    }
    // 200 calls earn 20 retries, in addition to the initial 10.
    expect(calls).toBeGreaterThan(220)
    expect(calls).toBeLessThanOrEqual(230)
  })
})

describe('an agent that fails repeatedly', () => {
  it('AIDIP-5.2-12 has its circuit opened, and is tried again later', async () => {
    let time = 1_000_000
    let isDown = true
    let calls = 0
    const agent = await agentOf((_, response) => {
      calls++
      if (isDown) response.destroy()
      else sendJson(response, 1)
    })
    const gateway = gatewayOf({}, { monotonic: () => time })
    for (let i = 0; i < 5; i++) await failure(gateway.call(callOf(agent.url)))
    const refused = await failure(gateway.call(callOf(agent.url)))
    expect(refused).toMatchObject({ code: 'circuit_open', mayHaveRun: false, retryAfter: 1 })
    expect(calls).toBe(5)
    isDown = false
    time += 3000
    expect(await gateway.call(callOf(agent.url))).toMatchObject({ status: 200 })
    expect(await gateway.call(callOf(agent.url))).toMatchObject({ status: 200 })
  })

  it.each([
    [503, false],
    [502, false],
    [500, true],
    [429, true],
  ])('with status %i is still called: %s', async (status, isStillCalled) => {
    let calls = 0
    const agent = await agentOf((_, response) => {
      calls++
      sendJson(response, {}, status)
    })
    const gateway = gatewayOf()
    for (let i = 0; i < 8; i++) await gateway.call(callOf(agent.url)).catch(() => {})
    expect(calls).toBe(isStillCalled ? 8 : 5)
  })

  it.each(['http', 'websocket', 'mcp', 'a2a'] as const)(
    'over %s after a connection was made is still called for other callers',
    async (protocol) => {
      const broken = await startRawAgent((socket) => socket.on('data', () => socket.destroy()))
      open.push(broken)
      const gateway = gatewayOf({ retries: 0 })
      const target = endpoint(broken.url.replace(/^http/, protocol === 'websocket' ? 'ws' : 'http'), protocol)
      const codesOf = async (caller: string): Promise<string[]> => {
        const codes: string[] = []
        for (let i = 0; i < 6; i++) codes.push((await failure(gateway.call(callOf(target, { caller })))).code)
        return codes
      }
      expect((await codesOf('x')).at(-1)).toBe('circuit_open')
      expect((await codesOf('y'))[0]).not.toBe('circuit_open')
    },
  )

  it('cannot be reached and is not called for anyone', async () => {
    const target = await deadEnd()
    const gateway = gatewayOf({ retries: 0 })
    for (let i = 0; i < 5; i++) await failure(gateway.call(callOf(target, { caller: 'x' })))
    expect(await failure(gateway.call(callOf(target, { caller: 'y' })))).toMatchObject({ code: 'circuit_open' })
  })

  it('does not affect another agent at the same address', async () => {
    const agent = await agentOf((request, response) => {
      if (request.url === '/bad') response.destroy()
      else sendJson(response, 1)
    })
    const gateway = gatewayOf()
    for (let i = 0; i < 9; i++) await failure(gateway.call(callOf(`${agent.url}bad`, { agent: 'bad' })))
    expect(await gateway.call(callOf(`${agent.url}good`, { agent: 'good' }))).toMatchObject({ status: 200 })
  })

  it('at one endpoint is called at the other without trying the first', async () => {
    const broken = await startRawAgent((socket) => socket.destroy())
    const agent = await agentOf((_, response) => sendJson(response, 1))
    open.push(broken)
    const gateway = gatewayOf()
    const endpoints = [endpoint(broken.url), endpoint(agent.url)]
    for (let i = 0; i < 20; i++) await gateway.call(callOf(endpoints, { idempotent: true }))
    expect(broken.connections()).toBe(5)
  })
})

describe('the concurrency limit', () => {
  const hanging = () =>
    agentOf((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders())

  it('AIDIP-5.2-12 applies to each agent; a stream takes a slot until it ends', async () => {
    const agent = await hanging()
    const gateway = gatewayOf({ maxCallsPerAgent: 2, queueMs: 1 })
    const call = callOf(agent.url, { wantsStream: true })
    const answers = [await gateway.call(call), await gateway.call(call)]
    expect(await failure(gateway.call(call))).toMatchObject({ code: 'agent_busy', retryAfter: 1, mayHaveRun: false })
    await gateway.call({ ...call, agent: 'other' })
    const [first] = answers
    if (first?.kind !== 'stream') throw new Error('no stream')
    // Left before the first part was read.
    const gone = new Promise((resolve) => [...agent.sockets][0]?.on('close', resolve))
    await first.batches[Symbol.asyncIterator]().return?.()
    await gone
    expect(await gateway.call(call)).toMatchObject({ kind: 'stream' })
  })

  it('frees the slot when a caller goes away, also from a stream that nobody reads', async () => {
    const agent = await hanging()
    const gateway = gatewayOf({ maxCalls: 1, queueMs: 1 })
    const caller = new AbortController()
    await gateway.call(callOf(agent.url, { wantsStream: true, signal: caller.signal }))
    expect(await failure(gateway.call(callOf(agent.url)))).toMatchObject({ code: 'gateway_busy' })
    caller.abort()
    expect(await gateway.call(callOf(agent.url, { wantsStream: true }))).toMatchObject({ kind: 'stream' })
  })

  it('frees the slot after each failure', async () => {
    const url = await deadEnd()
    const gateway = gatewayOf({ maxCalls: 1, retries: 0 })
    for (let i = 0; i < 3; i++) {
      expect(await failure(gateway.call(callOf(url, { agent: `a${i}` })))).toMatchObject({ code: 'unreachable' })
    }
  })
})

describe('a caller that goes away', () => {
  it('before the call causes no request', async () => {
    const agent = await agentOf((_, response) => sendJson(response, 1))
    const call = callOf(agent.url, { signal: AbortSignal.abort() })
    expect(await failure(gatewayOf().call(call))).toMatchObject({ code: 'cancelled', mayHaveRun: false })
    expect(agent.connections()).toBe(0)
  })

  it('during the call cancels the agent’s work, and does not count as a failure', async () => {
    const outcomes: Outcome[] = []
    let closed = (): void => {}
    const end = new Promise<void>((resolve) => {
      closed = resolve
    })
    const caller = new AbortController()
    let calls = 0
    const agent = await agentOf((_, response) => {
      calls++
      response.on('close', closed)
      caller.abort()
    })
    const gateway = gatewayOf({}, { onOutcome: (_agent, _operation, outcome) => outcomes.push(outcome) })
    const call = callOf(agent.url, { signal: caller.signal, idempotent: true })
    expect(await failure(gateway.call(call))).toMatchObject({ code: 'cancelled', mayHaveRun: true })
    await end
    expect(calls).toBe(1)
    expect(outcomes).toEqual([])
  })
})

describe('outcomes', () => {
  it('are reported once for each call that says something about the agent', async () => {
    const reported: unknown[] = []
    const agent = await agentOf((request, response) => {
      if (request.url === '/broken') return response.writeHead(200, { 'content-type': 'application/json' }).end('{')
      if (request.url === '/stream')
        return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\n')
      return sendJson(response, 1, Number(request.url?.slice(1)) || 200)
    })
    let time = 0
    const gateway = gatewayOf(
      {},
      {
        monotonic: () => time,
        onOutcome: (agent, operation, { ms, ...outcome }) => {
          reported.push([agent, operation, outcome])
          expect(ms).toBe(0)
        },
      },
    )
    for (const path of ['', '404', '500', 'broken']) {
      await gateway.call(callOf(agent.url + path)).catch(() => {})
      time += 1000
    }
    const answer = await gateway.call(callOf(`${agent.url}stream`, { wantsStream: true }))
    expect(reported).toHaveLength(4)
    if (answer.kind === 'stream') await gather(eachPart(answer.batches))
    expect(reported).toEqual([
      ['a1', 'echo', { ok: true, status: 200 }],
      ['a1', 'echo', { ok: true, status: 404 }],
      ['a1', 'echo', { ok: false, status: 500 }],
      ['a1', 'echo', { ok: false, code: 'bad_response' }],
      ['a1', 'echo', { ok: true, status: 200 }],
    ])
  })
})

describe('a gateway that stops', () => {
  it('C-59 ends calls and streams with an error that does not count against the agent, and refuses new ones', async () => {
    const outcomes: Outcome[] = []
    const agent = await agentOf((request, response) => {
      if (request.url === '/stream')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    })
    const gateway = gatewayOf({}, { onOutcome: (_agent, _operation, outcome) => outcomes.push(outcome) })
    const streamed = await gateway.call(callOf(`${agent.url}stream`, { wantsStream: true }))
    if (streamed.kind !== 'stream') throw new Error('no stream')
    const parts = eachPart(streamed.batches)
    expect(await parts.next()).toMatchObject({ value: { data: 1 } })
    const waiting = failure(gateway.call(callOf(agent.url, { timeoutMs: 60_000 })))
    await expect.poll(() => agent.connections()).toBe(2)
    gateway.stop()
    await expect(parts.next()).rejects.toMatchObject({ code: 'stopping' })
    expect(await waiting).toMatchObject({ code: 'stopping' })
    expect(await failure(gateway.call(callOf(agent.url)))).toMatchObject({ code: 'stopping', mayHaveRun: false })
    expect(outcomes).toMatchObject([{ ok: true, status: 200 }])
  })
})
