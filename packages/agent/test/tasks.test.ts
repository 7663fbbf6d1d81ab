import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { invokeAgent } from '@switchboard/client'
import { readKeySet } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { AgentError } from '../src/index.js'
import { closeAll, echo, makeKey, post, send, startAgent, track, until } from './support/agents.js'
import { verifyMessage } from './support/http-signature.js'

afterEach(closeAll)

const ASYNC = { prefer: 'respond-async' }

/** A capability that runs until the test calls `finish`. */
const slow = () => {
  const seen: { finish: (value: string) => void; signal?: AbortSignal; taskId?: string } = { finish: () => {} }
  const capability = {
    name: 'slow',
    output: {},
    handler(_: object, { signal, taskId }: { signal: AbortSignal; taskId?: string }) {
      seen.signal = signal
      seen.taskId = taskId ?? ''
      return new Promise<string>((resolve) => {
        seen.finish = resolve
      })
    },
  }
  return { seen, capability }
}

const locationOf = ({ headers }: { headers: Headers }, url: string): string =>
  new URL(headers.get('location') ?? '', url).href

const pollUntilOver = (location: string, headers: Record<string, string> = {}) =>
  until(
    () => send(location, { headers }),
    ({ json }) => json.status !== 'running',
  )

describe('a deferred call', () => {
  it('AURI-8-02 AURI-8-04 is accepted with 202, a task and a poll interval, and then polled', async () => {
    const { seen, capability } = slow()
    const { url } = await startAgent({ capabilities: [capability] })
    const accepted = await post(`${url}/slow`, {}, ASYNC)
    expect(accepted.status).toBe(202)
    expect(accepted.json).toMatchObject({ taskId: expect.any(String), status: 'running', pollInterval: 1 })
    expect(accepted.headers.get('retry-after')).toBe('1')
    expect(accepted.headers.get('preference-applied')).toBe('respond-async')
    expect(accepted.headers.get('location')).toBe(`/tasks/${accepted.json.taskId}`)
    const location = locationOf(accepted, url)
    expect((await send(location)).json.status).toBe('running')
    expect(seen.taskId).toBe(accepted.json.taskId)
    seen.finish('done')
    expect((await pollUntilOver(location)).json).toMatchObject({ status: 'completed', result: 'done' })
  })

  it('shows the progress that its handler reports, within bounds, until it ends', async () => {
    let go = (): void => {}
    const capability = {
      name: 'slow',
      output: {},
      async handler(_: object, { progress }: { progress: (fraction: number, message?: string) => void }) {
        progress(0.1)
        progress(7, 'nearly done')
        await new Promise<void>((resolve) => {
          go = resolve
        })
        return 'done'
      },
    }
    const { url } = await startAgent({ capabilities: [capability] })
    const location = locationOf(await post(`${url}/slow`, {}, ASYNC), url)
    const { json } = await until(
      () => send(location),
      ({ json }) => json.progress?.message !== undefined,
    )
    expect(json).toMatchObject({ status: 'running', progress: { fraction: 1, message: 'nearly done' } })
    go()
    const over = (await pollUntilOver(location)).json
    expect(over).toMatchObject({ status: 'completed', result: 'done' })
    expect(over.progress).toBeUndefined()
  })

  it('is rejected at once if the input does not match its schema', async () => {
    const { url } = await startAgent()
    expect((await post(`${url}/echo`, { text: 5 }, ASYNC)).status).toBe(400)
  })

  it('is the only way to run deferred capabilities, and the client waits for the result', async () => {
    const { host } = await startAgent({ capabilities: [{ ...echo, deferred: true }] })
    const reply = await invokeAgent(`agent://${host}/echo`, { text: 'later' }, { httpLoopback: true })
    expect(reply).toMatchObject({ output: { text: 'later' }, taskId: expect.any(String) })
  })

  it('reports its failure', async () => {
    const failing = {
      ...echo,
      handler: () => Promise.reject(new AgentError('ambiguous_response', 'two results match')),
    }
    const { url } = await startAgent({ capabilities: [failing] })
    const accepted = await post(`${url}/echo`, { text: 'a' }, ASYNC)
    const { json } = await pollUntilOver(locationOf(accepted, url))
    expect(json).toMatchObject({ status: 'failed', error: { status: 422, detail: 'two results match' } })
  })

  it('is cancelled with DELETE, which aborts the handler', async () => {
    const { seen, capability } = slow()
    const { url } = await startAgent({ capabilities: [capability] })
    const location = locationOf(await post(`${url}/slow`, {}, ASYNC), url)
    const cancelled = await send(location, { method: 'DELETE' })
    expect([cancelled.status, cancelled.json.status]).toEqual([200, 'cancelled'])
    expect(seen.signal?.aborted).toBe(true)
    expect((await pollUntilOver(location)).json.status).toBe('cancelled')
    expect((await send(location, { method: 'DELETE' })).json.status).toBe('cancelled')
  })

  it('AURI-8.1.1-01 belongs to its caller and session', async () => {
    const apiKeys = ['ann', 'ben'].map((subject) => ({ subject, key: subject }))
    const { url } = await startAgent({ authentication: { apiKeys } })
    const ann = { 'x-api-key': 'ann', 'x-session-id': 's1' }
    const accepted = await post(`${url}/echo`, { text: 'a' }, { ...ASYNC, ...ann })
    const location = locationOf(accepted, url)
    const statusFor = async (headers: Record<string, string>) => (await send(location, { headers })).status
    expect(await statusFor(ann)).toBe(200)
    expect(await statusFor({ ...ann, 'x-session-id': 's2' })).toBe(404)
    expect(await statusFor({ 'x-api-key': 'ben', 'x-session-id': 's1' })).toBe(404)
    expect(await statusFor({})).toBe(401)
    expect((await send(`${url}/tasks/unknown`, { headers: ann })).status).toBe(404)
  })

  it('runs once per Idempotency-Key', async () => {
    const { url } = await startAgent()
    const headers = { ...ASYNC, 'idempotency-key': 'k' }
    const [first, second] = [
      await post(`${url}/echo`, { text: 'a' }, headers),
      await post(`${url}/echo`, { text: 'a' }, headers),
    ]
    expect(second.json.taskId).toBe(first.json.taskId)
  })

  it('can use another store', async () => {
    const kept = new Map<string, string>()
    const taskStore = {
      put: async (task: { id: string }) => Boolean(kept.set(task.id, JSON.stringify(task))),
      get: async (id: string) => JSON.parse(kept.get(id) ?? 'null') ?? undefined,
    }
    const { url } = await startAgent({ taskStore })
    const accepted = await post(`${url}/echo`, { text: 'a' }, ASYNC)
    const other = await startAgent({ taskStore })
    const { json } = await pollUntilOver(`${other.url}/tasks/${accepted.json.taskId}`)
    expect(json.result).toEqual({ text: 'a' })
  })

  it('fails if its result is too large to store', async () => {
    const kept = new Map<string, string>()
    const taskStore = {
      put: async (task: { id: string; result?: unknown }) =>
        task.result === undefined && Boolean(kept.set(task.id, JSON.stringify(task))),
      get: async (id: string) => JSON.parse(kept.get(id) ?? 'null') ?? undefined,
    }
    const { url } = await startAgent({ taskStore })
    const accepted = await post(`${url}/echo`, { text: 'a' }, ASYNC)
    const { json } = await pollUntilOver(locationOf(accepted, url))
    expect(json).toMatchObject({ status: 'failed', error: { status: 413 } })
  })

  it('is rejected if the store is full', async () => {
    const { url } = await startAgent({ taskStore: { put: async () => false, get: async () => undefined } })
    expect((await post(`${url}/echo`, { text: 'a' }, ASYNC)).status).toBe(503)
  })
})

describe('a webhook', () => {
  /** Starts a receiver that fails this many times before it succeeds. */
  async function startReceiver(failures = 0) {
    const events: { status: number; headers: { get(name: string): string | null }; text: string }[] = []
    const server = createServer(async (request, response) => {
      const body = await text(request)
      response.writeHead(events.length < failures ? 503 : 204).end()
      events.push({ status: 0, headers: { get: (name) => String(request.headers[name] ?? '') }, text: body })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    track({ close: () => new Promise<void>((resolve) => void server.close(() => resolve())) })
    return { events, url: `http://127.0.0.1:${port}/hook` }
  }

  it('AURI-8-03 AURI-8-08 gets the signed result with type, ids, time and payload', async () => {
    const receiver = await startReceiver()
    const { url } = await startAgent({ key: makeKey(), allowPrivate: true })
    const accepted = await post(`${url}/echo`, { text: 'a' }, { ...ASYNC, 'x-callback-url': receiver.url })
    const { taskId } = accepted.json
    const [event] = await until(
      () => receiver.events,
      (events) => events.length > 0,
    )
    expect(JSON.parse(event?.text ?? '')).toEqual({
      type: 'task.completed',
      id: `${taskId}.completed`,
      taskId,
      agent: 'tester',
      operation: 'echo',
      time: expect.stringMatching(/Z$/),
      payload: expect.objectContaining({ result: { text: 'a' } }),
    })
    const [key] = readKeySet((await send(`${url}/.well-known/jwks.json`)).json)
    const derived = { '@method': 'POST', '@target-uri': receiver.url }
    expect(event && verifyMessage(event, key?.jwk, derived)).toBe(true)
    expect(event && verifyMessage({ ...event, text: '{}' }, key?.jwk, derived)).toBe(false)
  })

  it('is called again if it fails', async () => {
    const receiver = await startReceiver(2)
    const runtime = { sleep: async () => {} }
    const { url } = await startAgent({ allowPrivate: true, runtime })
    await post(`${url}/echo`, { text: 'a' }, { ...ASYNC, 'x-callback-url': receiver.url })
    await until(
      () => receiver.events,
      (events) => events.length === 3,
    )
    expect(new Set(receiver.events.map(({ text: body }) => body)).size).toBe(1)
    expect(receiver.events).toHaveLength(3)
  })

  it.each([
    'http://hooks.example/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://169.254.169.254/x',
    'https://user:pw@hooks.example/x',
    'nonsense',
  ])('is rejected at %s', async (callback) => {
    const { url } = await startAgent()
    const response = await post(`${url}/echo`, { text: 'a' }, { ...ASYNC, 'x-callback-url': callback })
    expect(response.status).toBe(400)
  })

  it('is not called if its name resolves to this machine', async () => {
    const seen: unknown[] = []
    const runtime = { sleep: async () => {} }
    const { url } = await startAgent({ onError: (error) => seen.push(error), runtime })
    await post(`${url}/echo`, { text: 'a' }, { ...ASYNC, 'x-callback-url': 'https://localhost/x' })
    await until(
      () => seen.length,
      (length) => length > 0,
    )
    expect(seen).toEqual([
      expect.objectContaining({
        cause: expect.objectContaining({ message: expect.stringMatching(/not a public address/) }),
      }),
    ])
  })
})
