import { setMaxListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { startDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import type { Reply } from './agent.js'
import { echo, startAgent } from './agent.js'
import { setUp } from './setup.js'

/** Replies that wait until they are released; `begun` resolves at the first request. */
const holding = (): { reply: Reply; begun: Promise<void>; release: () => void } => {
  let release = (): void => {}
  let begin = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const reply: Reply = async (...args) => {
    begin()
    await released
    return echo(...args)
  }
  return { reply, begun, release }
}

/** Starts a stream that does not end; it must be kept, because a forgotten one is cancelled. */
const openStream = (url: string, key: string, signal: AbortSignal): Promise<Response> =>
  fetch(`${url}/agents/x/invoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: '{"text":"a"}',
    signal,
  })

const endlessStream: Reply = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
}

describe('a caller with many streams', () => {
  it('AIDIP-9-12 cannot take the slots of others, with the default limits', async () => {
    const agent = await startAgent(endlessStream)
    const directory = await startDirectory()
    const end = new AbortController()
    try {
      await directory.post('/agents', { as: 'tokA', body: agent.document() })
      const key = await directory.makeKey({ subject: 'greedy', scopes: ['invoke'] })
      setMaxListeners(150, end.signal)
      const streams = await Promise.all(Array.from({ length: 150 }, () => openStream(directory.url, key, end.signal)))
      const withStatus = (wanted: number) => streams.filter(({ status }) => status === wanted)
      expect([withStatus(200).length, withStatus(429).length]).toEqual([128, 22])
      agent.reply = echo
      const other = await directory.post('/agents/x/invoke', { as: 'tokC', body: { text: 'b' } })
      expect(other.status, other.text).toBe(200)
      expect(withStatus(200).filter(({ body }) => body === null)).toEqual([])
    } finally {
      end.abort()
      await directory.close()
      await agent.close()
    }
  })
})

describe('the limit of a caller', () => {
  const setup = setUp({ gateway: { maxCallsPerCaller: 2 } })
  const hold = async (calls: number) => {
    const held = holding()
    setup.agent.reply = held.reply
    const running = Array.from({ length: calls }, () => setup.call({ text: 'a' }))
    await expect.poll(() => setup.agent.calls.length).toBe(calls)
    return { running, release: held.release }
  }

  it('AIDIP-9-12 names itself in a 429, is not counted against the agent, and ends with a call', async () => {
    await setup.register()
    const { running, release } = await hold(2)
    const refused = await setup.call({ text: 'b' })
    expectError(refused, { status: 429, code: 'rate_limited', says: /you have 2 calls in progress/ })
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    release()
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200])
    expect((await setup.call({ text: 'c' })).status).toBe(200)
    const { json } = await setup.directory.get('/agents/x', { as: 'tokA' })
    expect(json.verification.reputation).toMatchObject({ calls: 3, success_rate: 1 })
  })

  it('C-60 counts the inputs of a batch, which takes its time instead of failing', async () => {
    await setup.register()
    let running = 0
    let most = 0
    setup.agent.reply = async (...args) => {
      most = Math.max(most, ++running)
      await new Promise((done) => setTimeout(done, 20))
      running--
      return echo(...args)
    }
    const inputs = Array.from({ length: 10 }, (_, i) => ({ text: `${i}` }))
    expect(await setup.call(inputs)).toMatchObject({ status: 200, json: inputs })
    expect(most).toBe(2)
  })

  it('C-62 counts deferred calls, which wait until they may run', async () => {
    await setup.register()
    const { running, release } = await hold(2)
    const { json } = await setup.call({ text: 'later' }, { headers: { prefer: 'respond-async' } })
    const task = async () => (await setup.directory.get(`/tasks/${json.taskId}`, { as: 'tokC' })).json
    await new Promise((done) => setTimeout(done, 300))
    expect((await task()).status).toMatch(/pending|running/)
    expect(setup.agent.calls).toHaveLength(2)
    release()
    await Promise.all(running)
    await expect.poll(task, { timeout: 5000 }).toMatchObject({ status: 'completed', result: { text: 'later' } })
  })
})

describe('limits of concurrent calls', () => {
  const setup = setUp({ gateway: { maxCalls: 2, maxCallsPerAgent: 1 } })

  it('rejects calls to an agent beyond gateway.maxCallsPerAgent, but not to others', async () => {
    const slow = holding()
    setup.agent.reply = slow.reply
    await setup.register()
    const other = await startAgent()
    await setup.directory.post('/agents', { as: 'tokA', body: other.document({ id: 'y' }) })

    const first = setup.call({ text: 'a' })
    await slow.begun
    const second = await setup.call({ text: 'b' })
    expectError(second, { status: 503, code: 'unavailable', says: /the agent has 1 call in progress/ })
    expect(second.headers.get('retry-after')).toBe('1')
    expect((await setup.call({ text: 'c' }, { path: '/agents/y/invoke' })).status).toBe(200)

    slow.release()
    expect((await first).status).toBe(200)
    expect((await setup.call({ text: 'd' })).status).toBe(200)
    await other.close()
  })

  it('rejects calls to any agent beyond gateway.maxCalls', async () => {
    const agents = await Promise.all(
      [holding(), holding(), holding()].map(async (held) => ({ held, agent: await startAgent(held.reply) })),
    )
    for (const [i, { agent }] of agents.entries())
      await setup.directory.post('/agents', { as: 'tokA', body: agent.document({ id: `z${i}` }) })

    const calls = agents.slice(0, 2).map((_, i) => setup.call({ text: 'a' }, { path: `/agents/z${i}/invoke` }))
    await Promise.all(agents.slice(0, 2).map(({ held }) => held.begun))
    const third = await setup.call({ text: 'b' }, { path: '/agents/z2/invoke' })
    expectError(third, { status: 503, code: 'unavailable', says: /this directory has 2 calls in progress/ })
    expect(agents[2]?.agent.calls).toEqual([])

    for (const { held } of agents) held.release()
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200])
    for (const { agent } of agents) await agent.close()
  })
  it('let a call wait for a moment, so that a short queue is no error', async () => {
    const slow = holding()
    setup.agent.reply = slow.reply
    await setup.register()
    const first = setup.call({ text: 'a' })
    await slow.begun
    const second = setup.call({ text: 'b' }, { as: 'tokB' })
    await new Promise((done) => setTimeout(done, 100))
    expect(setup.agent.calls).toHaveLength(1)
    slow.release()
    expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200])
  })
})
