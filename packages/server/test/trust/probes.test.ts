import type { JsonObject } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startAgent, type TestAgent } from '../invoke/agent.js'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'

const INTERVAL = 3600

let clock: TestClock
let directory: TestDirectory
let agent: TestAgent

beforeEach(async () => {
  clock = createTestClock()
  agent = await startAgent()
  directory = await startDirectory({ probes: { enabled: true, intervalSeconds: INTERVAL } }, clock)
})
afterEach(async () => {
  await directory.close()
  await agent.close()
})

const operation = (name: string, changes: JsonObject = {}): JsonObject => ({
  name,
  inputs: { text: 'string' },
  outputs: { text: 'string' },
  examples: [{ input: { text: `hello from ${name}` } }],
  idempotent: true,
  ...changes,
})
const register = (changes: JsonObject = {}) =>
  directory.post('/agents', {
    as: 'tokA',
    body: agent.document({ probes: true, operations: [operation('echo')], ...changes }),
  })
const shown = async (): Promise<JsonObject | undefined> => (await directory.get('/agents/x')).json.verification.probe

/** Lets the time pass after which the agent is probed. */
const untilProbe = (state: string) =>
  vi.waitFor(
    async () => {
      clock.advance(INTERVAL * 3)
      expect(await shown()).toMatchObject({ state })
    },
    { timeout: 30_000, interval: 500 },
  )

describe('a probe', () => {
  it('calls the agent with its example and shows everybody the result with its date', async () => {
    expect((await register()).status).toBe(201)
    expect(await shown()).toBeUndefined()
    await untilProbe('passed')
    expect(await shown()).toEqual({ state: 'passed', at: expect.any(String) })
    expect(agent.calls[0]?.json).toEqual({ text: 'hello from echo' })
    await directory.restart()
    expect(await shown()).toMatchObject({ state: 'passed' })
  })

  it('that fails says so to everybody, and why to the owner only', async () => {
    agent.reply = (_received, response) => response.writeHead(500).end('{"error":"out of order"}')
    await register()
    await untilProbe('failed')
    expect((await directory.get('/agents/x')).text).not.toContain('reason')
    const { json } = await directory.get('/probes/x', { as: 'tokA' })
    expect(json).toMatchObject({ agent: 'x', state: 'failed', results: [{ operation: 'echo', state: 'failed' }] })
    expect(json.results[0].reason).toEqual(expect.any(String))
    expectError(await directory.get('/probes/x', { as: 'tokB' }), { status: 403 })
    expectError(await directory.get('/probes/y', { as: 'tokA' }), { status: 404 })
    expectError(await directory.get('/probes/x'), { status: 401 })
  })

  it('fails if the output does not match its schema', async () => {
    agent.reply = (_received, response) => response.end('{"text":5}')
    await register()
    await untilProbe('failed')
    const { json } = await directory.get('/probes/x', { as: 'tokA' })
    expect(json.results[0].reason).toBe('the output does not match its schema')
  })

  it('is repeated, and the result of an earlier document is not shown for a new one', async () => {
    await register()
    await untilProbe('passed')
    agent.reply = (_received, response) => response.writeHead(500).end()
    await untilProbe('failed')
    await register({ operations: [operation('other')] })
    expect(await shown()).toBeUndefined()
  })

  it('does not call agents that must not be called without being asked', async () => {
    const body = { type: 'api_key', secret: 'stored by the operator' }
    await register({ id: 'y', probes: false, operations: [operation('of a publisher who does not agree')] })
    await register({ id: 'z', operations: [operation('that changes something', { idempotent: false })] })
    await register({ id: 'v', operations: [operation('without an example', { examples: [] })] })
    const authentication = { type: 'api_key' }
    await register({ id: 'w', authentication, operations: [operation('that requires a credential')] })
    await directory.put('/admin/agents/w/credential', { as: 'admin', body })
    // Probed last, so all others have been passed over.
    await register({ operations: [operation('that may be called', { idempotent: false, readOnly: true })] })
    await untilProbe('passed')
    expect(new Set(agent.calls.map(({ json }) => json.text))).toEqual(new Set(['hello from that may be called']))
  })

  it('does not reveal the names of private operations', async () => {
    await register({ operations: [operation('echo'), operation('secret', { private: true })] })
    await untilProbe('passed')
    expect(agent.calls.map(({ json }) => json.text)).toContain('hello from secret')
    expect((await directory.get('/agents/x')).text).not.toContain('secret')
  })

  it('is off unless the operator enables it', async () => {
    await directory.restart({ probes: { enabled: false } })
    await register()
    clock.advance(INTERVAL * 3)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(agent.calls).toEqual([])
    expectError(await directory.get('/probes/x', { as: 'tokA' }), { status: 404 })
  })
})
