import { describe, expect, it } from 'vitest'
import { startDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { fixed, sendJson } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp({ gateway: { timeoutMs: 2000 } })
const { register, call } = setup

describe('an array of inputs', () => {
  it('AIDIP-5.3-04 AIDIP00-6.3-02 returns an array of outputs of the same length, in the same order', async () => {
    await register()
    setup.agent.reply = async ({ json }, response) => {
      // The first input finishes last.
      if (json.text === '0') await expect.poll(() => setup.agent.calls.length).toBe(5)
      sendJson(response, { text: `out ${json.text}` })
    }
    for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke']) {
      setup.agent.calls.length = 0
      const { status, json } = await call(
        ['0', '1', '2', '3', '4'].map((text) => ({ text })),
        { path },
      )
      expect(status).toBe(200)
      expect(json).toEqual(['0', '1', '2', '3', '4'].map((text) => ({ text: `out ${text}` })))
    }
  })

  it('AIDIP-5.3-05 is sent unchanged to an agent that accepts batches, and one by one to others', async () => {
    const inputs = [{ text: 'a' }, { text: 'b' }]
    await register()
    await call(inputs)
    expect(setup.agent.calls.map(({ json }) => json)).toEqual(expect.arrayContaining(inputs))
    expect(setup.agent.calls).toHaveLength(2)
    setup.agent.calls.length = 0
    await register({ id: 'y', batch: true })
    expect((await call(inputs, { path: '/agents/y/invoke' })).json).toEqual(inputs)
    expect(setup.agent.calls.map(({ json }) => json)).toEqual([inputs])
  })

  it('AIDIP-5.3-06 has one result for each input: an invalid input does not affect the others', async () => {
    await register()
    setup.agent.reply = ({ json }, response) =>
      json.text === 'bad' ? sendJson(response, { secret: 1 }, 500) : sendJson(response, json)
    const { status, json } = await call([{ text: 'a' }, { text: 5 }, { text: 'bad' }, { text: 'd' }])
    expect(status).toBe(207)
    expect(json).toEqual([
      { text: 'a' },
      { error: { code: 'InvalidInput', message: expect.stringContaining('/text'), details: expect.any(Array) } },
      { error: { code: 'AgentError', message: expect.any(String) } },
      { text: 'd' },
    ])
  })

  it('AIDIP-5.3-06 has the agent’s own results if the agent accepts batches', async () => {
    await register({ batch: true })
    const error = { code: 'TooHard', message: 'I cannot do this one' }
    setup.agent.reply = fixed([{ text: 'a' }, { error }])
    expect(await call([{ text: 'a' }, { text: 'b' }])).toMatchObject({ status: 207, json: [{ text: 'a' }, { error }] })
    for (const answer of [[{ text: 'a' }], { text: 'a' }]) {
      setup.agent.reply = fixed(answer)
      expectError(await call([{ text: 'a' }, { text: 'b' }]), { status: 502, code: 'agent_error' })
    }
  })

  it('C-60 has the status of the first failure if all inputs fail', async () => {
    await register()
    setup.agent.reply = fixed(null, 503)
    const { status, json } = await call([{ text: 'a' }, { text: 5 }])
    expect([status, json.map(({ error }: { error: { code: string } }) => error.code)]).toEqual([
      503,
      ['Unavailable', 'InvalidInput'],
    ])
  })

  it('C-60 that is empty returns an empty array, and the agent is not called', async () => {
    await register()
    expect(await call([])).toMatchObject({ status: 200, json: [] })
    expect(setup.agent.calls).toEqual([])
  })

  it('C-60 of more than 100 inputs is rejected', async () => {
    await register()
    const inputs = Array.from({ length: 101 }, () => ({ text: 'a' }))
    expectError(await call(inputs), { status: 413, code: 'payload_too_large', says: /100/ })
    expect(setup.agent.calls).toEqual([])
    expect((await call(inputs.slice(1))).json).toHaveLength(100)
  })

  it('C-60 is one input if the operation takes an array', async () => {
    await register({ inputs: { type: 'array', items: { type: 'string' } }, outputs: {} })
    expect((await call(['a', 'b'])).json).toEqual(['a', 'b'])
    expect(setup.agent.calls).toHaveLength(1)
    expectError(await call([1]), { status: 400, member: '/0' })
  })

  it('may name a different operation in each input', async () => {
    const operation = { inputs: { text: 'string' }, outputs: {} }
    await register({
      batch: true,
      operations: [
        { name: 'a', ...operation },
        { name: 'b', ...operation },
      ],
    })
    const mixed = [
      { operation: 'a', text: '1' },
      { operation: 'b', text: '2' },
    ]
    expect((await call(mixed)).json).toEqual(mixed)
    expect(setup.agent.calls).toHaveLength(2)
    const same = [
      { operation: 'a', text: '1' },
      { operation: 'a', text: '2' },
    ]
    expect((await call(same)).json).toEqual(same)
    expect(setup.agent.calls).toHaveLength(3)
  })

  it('has the deadline of one call', async () => {
    await register()
    setup.agent.reply = () => {}
    const { status, json } = await call(Array.from({ length: 20 }, () => ({ text: 'a' })))
    expect(status).toBe(504)
    expect(json).toHaveLength(20)
    expect(setup.agent.calls.length).toBeLessThan(20)
  })

  it('AIDIP-9-12 counts as many calls as it has inputs', async () => {
    const directory = await startDirectory({ rateLimits: { search: 1e6, register: 1e6, lookup: 1e6, invoke: 10 } })
    try {
      await directory.post('/agents', { as: 'tokA', body: setup.agent.document() })
      const ask = { as: 'tokC' as const, body: Array.from({ length: 8 }, () => ({ text: 'a' })) }
      expect((await directory.post('/agents/x/invoke', ask)).status).toBe(200)
      const refused = await directory.post('/agents/x/invoke', ask)
      expectError(refused, { status: 429, code: 'rate_limited' })
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(setup.agent.calls).toHaveLength(8)
    } finally {
      await directory.close()
    }
  })
})
