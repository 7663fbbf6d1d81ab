import { describe, expect, it } from 'vitest'
import type { Reply } from './agent.js'
import { echo, startAgent } from './agent.js'
import { setUp } from './setup.js'

describe('limits of concurrent calls', () => {
  const setup = setUp({ gateway: { maxCalls: 2, maxCallsPerAgent: 1 } })

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

  it('rejects calls to an agent beyond gateway.maxCallsPerAgent, but not to others', async () => {
    const slow = holding()
    setup.agent.reply = slow.reply
    await setup.register()
    const other = await startAgent()
    await setup.directory.post('/agents', { as: 'tokA', body: other.document({ id: 'y' }) })

    const first = setup.call({ text: 'a' })
    await slow.begun
    const second = await setup.call({ text: 'b' })
    expect(second.status, second.text).toBe(503)
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
    expect(third.status, third.text).toBe(503)
    expect(agents[2]?.agent.calls).toEqual([])

    for (const { held } of agents) held.release()
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200])
    for (const { agent } of agents) await agent.close()
  })
})
