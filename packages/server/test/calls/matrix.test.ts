import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { DEFAULTS } from '../../src/config/settings.js'
import { stream } from '../invoke/read-stream.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { PROTOCOLS, type SameAgent } from './agents.js'

const folder = mkdtempSync(join(tmpdir(), 'switchboard-calls-'))
let directory: TestDirectory
beforeAll(async () => {
  const { policy } = DEFAULTS
  const schemes = [...policy.schemes, 'unix']
  directory = await startDirectory({ gateway: { socketFolders: [folder] }, policy: { ...policy, schemes } })
})
afterAll(async () => {
  await directory.close()
  rmSync(folder, { recursive: true })
})

const PATH = '/agents/x/invoke'
const call = (body: JsonValue, headers: Record<string, string> = {}) =>
  directory.post(PATH, { as: 'tokC', body, headers })

describe.each(Object.entries(PROTOCOLS))('an agent that speaks %s', (_, { start, parts, begun, refusal, defers }) => {
  let agent: SameAgent
  beforeAll(async () => {
    agent = await start(folder)
    await agent.register(directory)
  })
  afterAll(async () => {
    await directory.clear()
    await agent.close()
  })

  it('AIDIP00-6-02 AIDIP-5.2-01 is called with JSON and responds with JSON', async () => {
    const answer = await call({ text: 'hello' }, { 'x-request-id': 'r1' })
    expect(answer).toMatchObject({ status: 200, json: { text: 'hello' } })
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-request-id')).toBe('r1')
  })

  it('AIDIP-5.2-13 has its own error passed on, with status and message', async () => {
    const answer = await call({ text: 'fail' })
    expectError(answer, { status: refusal, says: 'no' })
    expect(answer.json.error.message).toBe('no')
  })

  it('AIDIP-5.3-04 accepts a batch in which one input fails and the others succeed', async () => {
    expect(await call([{ text: 'a' }, { text: 'b' }])).toMatchObject({
      status: 200,
      json: [{ text: 'a' }, { text: 'b' }],
    })
    const mixed = await call([{ text: 'a' }, { text: 'fail' }, { text: 'c' }])
    expect(mixed.status, mixed.text).toBe(207)
    const failed = { error: { code: expect.stringMatching(/^[A-Z]/), message: 'no' } }
    expect(mixed.json).toEqual([{ text: 'a' }, failed, { text: 'c' }])
  })

  it('AIDIP-5.3-01 AURI-8-05 is streamed as events', async () => {
    const answer = await stream(directory, { text: 'parts' }, { accept: 'text/event-stream' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const events = (await answer.rest()).split('\n\n').filter((event) => !/^event: status/.test(event) && event !== '')
    expect(events.at(-1)).toBe('event: end\ndata: {}')
    expect(events.slice(0, -1).map(dataOf)).toEqual(parts)
  })

  it('AURI-8-09 is streamed as lines', async () => {
    const answer = await stream(directory, { text: 'parts' }, { accept: 'application/x-ndjson' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8'])
    const lines = (await answer.rest()).split('\n').filter((line) => line !== '')
    expect(lines.map((line) => JSON.parse(line)).filter(isPart)).toEqual(parts)
  })

  it('AURI-8-06 is called over a WebSocket, many times', async () => {
    const { url, adminKey } = directory
    const headers = { authorization: `Bearer ${adminKey}` }
    const socket = new WebSocket(url.replace('http', 'ws') + PATH, { headers })
    await once(socket, 'open')
    const frames: JsonObject[] = []
    socket.on('message', (line) => frames.push(JSON.parse(String(line))))
    for (const id of ['1', '2']) socket.send(JSON.stringify({ id, input: { text: `call ${id}` } }))
    socket.send(JSON.stringify({ id: 3, input: { text: 'fail' } }))
    await expect.poll(() => frames.length).toBe(3)
    expect(frames.find(({ id }) => id === '1')).toMatchObject({ result: { text: 'call 1' } })
    expect(frames.find(({ id }) => id === '2')).toMatchObject({ result: { text: 'call 2' } })
    expect(frames.find(({ id }) => id === 3)).toMatchObject({ error: { message: 'no', status: refusal } })
    socket.close()
  })

  it('has its work stopped when the caller of a stream disconnects', async () => {
    const before = agent.begun()
    const leaving = new AbortController()
    const key = directory.adminKey
    const answer = fetch(directory.url + PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/x-ndjson' },
      body: '{"text":"hang"}',
      signal: leaving.signal,
    })
    await expect.poll(agent.begun).toBe(before + 1)
    if (begun) expect(await firstPart(await answer)).toEqual(begun)
    leaving.abort()
    await answer.catch(() => {})
    await agent.stopped()
  })

  it('AURI-8-02 has its work stopped when a deferred call is cancelled', async () => {
    const taken = await call({ text: 'wait' }, defers ? {} : { prefer: 'respond-async' })
    expect(taken.status, taken.text).toBe(202)
    const path = taken.headers.get('location') ?? ''
    expect(path).toBe(`/tasks/${taken.json.taskId}`)
    await expect.poll(async () => (await directory.get(path, { as: 'tokC' })).json.status).toBe('running')
    const cancelled = await directory.delete(path, { as: 'tokC' })
    expect(cancelled).toMatchObject({ status: 200, json: { status: 'cancelled' } })
    await agent.stopped()
    expect((await directory.get(path, { as: 'tokC' })).json.status).toBe('cancelled')
  })
})

const dataOf = (event: string): JsonValue => JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? 'null')

/** A2A agents send states of their task between the parts. */
const isPart = (line: JsonObject): boolean => line.taskId === undefined

async function firstPart({ body }: Response): Promise<JsonObject | undefined> {
  let text = ''
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString()
    const lines = text.split('\n').slice(0, -1)
    const parts: JsonObject[] = lines.filter((line) => line !== '').map((line) => JSON.parse(line))
    const first = parts.find(isPart)
    if (first) return first
  }
  return undefined
}
