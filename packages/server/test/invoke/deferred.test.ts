import { describe, expect, it } from 'vitest'
import { expectError } from '../support/errors.js'
import { fixed, sendJson } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp()
const { register, call } = setup
const INPUT = { text: 'hello' }
const ASYNC = { headers: { prefer: 'respond-async' } }

const task = async (id: string) => (await setup.directory.get(`/tasks/${id}`, { as: 'tokC' })).json

describe('a deferred call', () => {
  it('AURI-8-02 AURI-8-04 returns 202 and a task, which finally has the result', async () => {
    await register()
    let answer = (): void => {}
    setup.agent.reply = (_, response) => {
      answer = () => sendJson(response, { text: 'done' })
    }
    const accepted = await call(INPUT, ASYNC)
    expect(accepted.status, accepted.text).toBe(202)
    const { taskId, pollInterval } = accepted.json
    expect(accepted.headers.get('location')).toBe(`/tasks/${taskId}`)
    expect(accepted.headers.get('retry-after')).toBe(String(pollInterval))
    await expect.poll(() => setup.agent.calls.length).toBe(1)
    expect((await task(taskId)).status).toMatch(/pending|running/)
    answer()
    await expect.poll(async () => (await task(taskId)).status).toBe('completed')
    expect((await task(taskId)).result).toEqual({ text: 'done' })
    expect(setup.agent.calls[0]).toMatchObject({ json: INPUT, headers: { 'x-request-id': expect.any(String) } })
  })

  it('AURI-8-02 is checked at once', async () => {
    await register()
    expectError(await call({ text: 5 }, ASYNC), { status: 400, member: '/text' })
    expectError(await call(INPUT, { ...ASYNC, path: '/agents/none/invoke' }), { status: 404 })
  })

  it('AURI-8-02 has the error of the agent in the task', async () => {
    await register()
    setup.agent.reply = fixed({ error: { code: 'OutOfWords', message: 'no words left' } }, 422)
    const { json } = await call(INPUT, ASYNC)
    await expect.poll(async () => (await task(json.taskId)).status).toBe('failed')
    expect((await task(json.taskId)).error).toMatchObject({ code: 'OutOfWords', message: 'no words left' })
  })

  it('AURI-8-02 results from an agent’s own 202', async () => {
    await register()
    let polls = 0
    setup.agent.reply = ({ method, path }, response) => {
      if (method === 'POST')
        return sendJson(response, { taskId: 't-7', status: 'running', pollInterval: 1 }, 202, { location: '/work/t-7' })
      expect(path).toBe('/work/t-7')
      const done = ++polls > 1
      return sendJson(response, {
        taskId: 't-7',
        status: done ? 'completed' : 'running',
        pollInterval: 1,
        ...(done && { result: { text: 'late' } }),
      })
    }
    const accepted = await call(INPUT)
    expect(accepted.status, accepted.text).toBe(202)
    expect(accepted.json.taskId).not.toBe('t-7')
    await expect.poll(async () => (await task(accepted.json.taskId)).status, { timeout: 10_000 }).toBe('completed')
    expect((await task(accepted.json.taskId)).result).toEqual({ text: 'late' })
  })

  it('C-61 with an Idempotency-Key creates one task', async () => {
    await register()
    const headers = { prefer: 'respond-async', 'idempotency-key': 'deferred-1' }
    const first = await call(INPUT, { headers })
    const second = await call(INPUT, { headers })
    expect([second.status, second.json.taskId]).toEqual([202, first.json.taskId])
    await expect.poll(async () => (await task(first.json.taskId)).status).toBe('completed')
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('is sent with the caller’s credential, and may be a form', async () => {
    await register({ authentication: { type: 'api_key' }, inputs: { scan: 'file' }, inputFormats: ['image/png'] })
    const headers = { prefer: 'respond-async', 'x-api-key': 'theirs', 'content-type': 'image/png' }
    const { json } = await call(null, { headers, raw: new Uint8Array([1, 2, 3]) })
    await expect.poll(async () => (await task(json.taskId)).status).not.toMatch(/pending|running/)
    expect(setup.agent.calls[0]).toMatchObject({ headers: { 'x-api-key': 'theirs', 'content-type': 'image/png' } })
    expect(setup.agent.calls[0]?.body).toEqual(Buffer.from([1, 2, 3]))
  })
})
