import { describe, expect, it } from 'vitest'
import { fixed, type Reply, sendJson } from '../invoke/agent.js'
import { setUp } from '../invoke/setup.js'
import { expectError } from '../support/errors.js'

const setup = setUp()
const { register, call } = setup
const ASYNC = { headers: { prefer: 'respond-async' } }

describe('work that an agent has deferred', () => {
  it('C-19 is polled and cancelled at the endpoint that accepted it', async () => {
    const bindings = [
      { protocol: 'https', endpoint: 'http://127.0.0.1:1/first', priority: 1 },
      { protocol: 'https', endpoint: setup.agent.url, priority: 2 },
    ]
    await register({ bindings })
    setup.agent.reply = ({ method }, response) => {
      const document = { taskId: 't1', status: method === 'GET' ? 'completed' : 'running', pollInterval: 1 }
      sendJson(
        response,
        { ...document, ...(method === 'GET' && { result: { text: 'late' } }) },
        method === 'POST' ? 202 : 200,
      )
    }
    const { json, status } = await call({ text: 'a' })
    expect(status).toBe(202)
    const read = async () => (await setup.directory.get(`/tasks/${json.taskId}`, { as: 'tokC' })).json
    await expect.poll(read, { timeout: 5000 }).toMatchObject({ status: 'completed', result: { text: 'late' } })
    const other = await call({ text: 'a' })
    await setup.directory.delete(`/tasks/${other.json.taskId}`, { as: 'tokC' })
    await expect.poll(() => setup.agent.calls.map(({ method }) => method)).toContain('DELETE')
  })
})

describe('work that an agent defers and the directory cannot follow', () => {
  const deferWork: Reply = ({ method }, response) =>
    sendJson(response, { taskId: 't1', status: 'running' }, method === 'POST' ? 202 : 200)
  const methods = () => setup.agent.calls.map(({ method }) => method)

  it('is not started if the callback is not allowed', async () => {
    await register()
    setup.agent.reply = deferWork
    expectError(await call({ text: 'a' }, { headers: { 'x-callback-url': 'https://10.0.0.1/' } }), { status: 400 })
    expect(setup.agent.calls).toEqual([])
  })

  it('AIDIP-5.3-04 is cancelled if it is part of a batch', async () => {
    await register()
    setup.agent.reply = deferWork
    expect((await call([{ text: 'a' }])).status).toBe(502)
    await expect.poll(methods).toEqual(['POST', 'DELETE'])
  })

  it('is cancelled if the caller has too many tasks', async () => {
    await register()
    setup.agent.reply = deferWork
    const key = await setup.directory.makeKey({ subject: 'eager', scopes: ['invoke'] })
    const ask = { key, body: { text: 'a' } }
    const answers = await Promise.all(Array.from({ length: 101 }, () => setup.directory.post('/agents/x/invoke', ask)))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(100)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
    await expect.poll(methods).toContain('DELETE')
  })
})

describe('a deferred call', () => {
  it('AIDIP-9-05 is not sent if the caller has lost the right to it meanwhile', async () => {
    await register({ visibility: 'restricted' })
    const grant = { subject: 'tokC', agent: 'x', scopes: ['invoke'] }
    const { json: granted } = await setup.directory.post('/admin/grants', { as: 'admin', body: grant })
    setup.agent.reply = fixed(null, 503, { 'retry-after': '1' })
    const { json } = await call({ text: 'a' }, ASYNC)
    await expect.poll(() => setup.agent.calls.length).toBe(1)
    await setup.directory.delete(`/admin/grants/${granted.id}`, { as: 'admin' })
    const read = async () => (await setup.directory.get(`/tasks/${json.taskId}`, { as: 'tokC' })).json
    await expect.poll(read, { timeout: 5000 }).toMatchObject({ status: 'failed', httpStatus: 403 })
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('rejects an input that is too large to store', async () => {
    await register()
    const large = { text: 'x'.repeat(1_100_000) }
    expectError(await call(large, ASYNC), { status: 413, says: 'deferred' })
    expect(setup.agent.calls).toEqual([])
    expect((await call(large)).status).toBe(200)
  })
})
