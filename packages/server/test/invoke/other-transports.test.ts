import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { bodyOf, sendJson, startHttpAgent, startSocketAgent, type TestAgent } from '../gateway/agent.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { startAgent } from './agent.js'
import { stream } from './read-stream.js'

const folder = mkdtempSync(join(tmpdir(), 'switchboard-sockets-'))
let directory: TestDirectory
beforeAll(async () => {
  const { policy } = DEFAULTS
  directory = await startDirectory({
    gateway: { socketFolders: [folder] },
    policy: { ...policy, schemes: [...policy.schemes, 'unix'] },
  })
})
afterAll(async () => {
  await directory.close()
  rmSync(folder, { recursive: true })
})

/** Whether the agent's last call is still open. */
type Held = { gone: Promise<unknown> | undefined }

/** The same agent behind a WebSocket and behind a Unix socket: echoes, streams for `parts`, and never ends for `hang`. */
const AGENTS: Record<string, (held: Held) => Promise<TestAgent>> = {
  WebSocket: (held) =>
    startSocketAgent(
      (text, send, close) => {
        const { input, stream: wants, cancel } = JSON.parse(text)
        if (cancel) return
        if (input.text === 'hang') return send('{"id":"1","data":{"n":0}}\n')
        if (input.text === 'parts' && wants) {
          for (const n of [1, 2]) send(`{"id":"1","data":{"n":${n}}}\n`)
          return send('{"id":"1","done":true}\n')
        }
        send(`${JSON.stringify({ id: '1', result: input })}\n`)
        return close(1000)
      },
      (request) => {
        held.gone = new Promise((resolve) => request.socket.once('close', resolve))
      },
    ),
  'Unix socket': (held) =>
    startHttpAgent(
      async (request, response) => {
        held.gone = new Promise((resolve) => response.once('close', resolve))
        const input = JSON.parse(await bodyOf(request))
        const type = { 'content-type': 'application/x-ndjson' }
        if (input.text === 'hang') response.writeHead(200, type).write('{"n":0}\n')
        else if (input.text === 'parts') response.writeHead(200, type).end('{"n":1}\n{"n":2}\n')
        else sendJson(response, input)
      },
      join(folder, 'agent.sock'),
    ),
}

describe.each(Object.entries(AGENTS))('an agent behind a %s', (_, start) => {
  const held: Held = { gone: undefined }
  let agent: TestAgent
  beforeAll(async () => {
    agent = await start(held)
    const bindings = [{ protocol: agent.url.startsWith('unix') ? 'unix' : 'websocket', endpoint: agent.url }]
    const document: JsonObject = aidipAgent({ id: 'x', endpoint: agent.url, bindings })
    const answer = await directory.post('/agents', { as: 'tokA', body: document })
    expect(answer.status, answer.text).toBe(201)
  })
  afterAll(async () => {
    await agent.close()
    await directory.clear()
  })

  const call = (body: JsonObject | JsonObject[]) => directory.post('/agents/x/invoke', { as: 'tokC', body })

  it('AIDIP00-6-02 is called with the same body as any other', async () => {
    expect(await call({ text: 'hello' })).toMatchObject({ status: 200, json: { text: 'hello' } })
    expectError(await call({ text: 5 }), { status: 400, member: '/text' })
  })

  it('AIDIP-5.3-04 accepts batches', async () => {
    expect((await call([{ text: 'a' }, { text: 'b' }])).json).toEqual([{ text: 'a' }, { text: 'b' }])
  })

  it('AURI-8-06 AURI-8-09 streams', async () => {
    const answer = await stream(directory, { text: 'parts', stream: true })
    expect(await answer.rest()).toBe('data: {"n":1}\n\ndata: {"n":2}\n\nevent: end\ndata: {}\n\n')
  })

  it('is cancelled when the caller disconnects', async () => {
    const answer = await stream(directory, { text: 'hang', stream: true })
    expect(await answer.next('\n\n')).toBe('data: {"n":0}\n\n')
    await answer.cancel()
    await held.gone
  })
})

describe('several endpoints of one agent', () => {
  afterEach(() => directory.clear())

  it('C-19 are tried in the order of their priority', async () => {
    const agent = await startAgent()
    const bindings = [
      { protocol: 'https', endpoint: agent.url, priority: 2 },
      { protocol: 'https', endpoint: 'http://127.0.0.1:1/first', priority: 1 },
    ]
    try {
      const body = aidipAgent({ id: 'y', endpoint: 'http://127.0.0.1:1/last', bindings })
      expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(201)
      const answer = await directory.post('/agents/y/invoke', { as: 'tokC', body: { text: 'a' } })
      expect(answer).toMatchObject({ status: 200, json: { text: 'a' } })
    } finally {
      await agent.close()
    }
  })
})

describe('in production', () => {
  it('AIDIP-9-02 AIDIP00-7-02 no agent is called without TLS, even if it was registered before', async () => {
    const agent = await startAgent()
    const own = await startDirectory()
    try {
      await own.post('/agents', { as: 'tokA', body: agent.document() })
      const key = await own.makeKey({ subject: 'client', scopes: ['invoke'] })
      await own.restart({ behindProxy: true })
      const ask = { key, body: { text: 'a' }, headers: { 'x-forwarded-proto': 'https' } }
      for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke'])
        expectError(await own.post(path, ask), { status: 502, code: 'agent_error' })
      expect(agent.calls).toEqual([])
    } finally {
      await own.close()
      await agent.close()
    }
  })
})
