import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { CANCELLABLE, type CancellableAgent } from './cancellable-agents.js'

const folder = mkdtempSync(join(tmpdir(), 'switchboard-cancel-'))
const SOON = { timeout: 10_000, interval: 20 }
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

/** Defers a call; returns the path of its task once the agent is working. */
async function defer({ seen }: CancellableAgent): Promise<string> {
  const before = seen.begun
  const { status, headers, text } = await directory.post(PATH, {
    as: 'tokC',
    body: { text: 'a' },
    headers: { prefer: 'respond-async' },
  })
  expect(status, text).toBe(202)
  await expect.poll(() => seen.begun, SOON).toBe(before + 1)
  return headers.get('location') ?? ''
}

const read = async (path: string) => (await directory.get(path, { as: 'tokC' })).json

/** Calls without deferring, and disconnects when the agent is working. */
async function callAndLeave({ seen }: CancellableAgent, accept: string): Promise<void> {
  const before = seen.begun
  const leaving = new AbortController()
  const call = fetch(directory.url + PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${directory.adminKey}`, 'content-type': 'application/json', accept },
    body: '{"text":"a"}',
    signal: leaving.signal,
  })
  call.catch(() => {})
  await expect.poll(() => seen.begun, SOON).toBe(before + 1)
  leaving.abort()
  await expect(call.then((response) => response.text())).rejects.toThrow('abort')
}

describe.each(CANCELLABLE)('an agent that speaks %s', (name, start) => {
  let agent: CancellableAgent
  beforeAll(async () => {
    agent = await start(folder)
    const { text } = await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify(agent.document) })
    expect(text).toContain('"x"')
  })
  afterEach(() => {
    agent.seen.stopped = 0
  })
  afterAll(async () => {
    await directory.clear()
    await agent.close()
  })
  const stopped = () => expect.poll(() => agent.seen.stopped, SOON).toBe(1)
  /** Frames of a WebSocket have no means to cancel a task later. */
  const hasTasks = !name.startsWith('websocket')

  it('AURI-8-02 is told to stop when a deferred call is cancelled', async () => {
    const path = await defer(agent)
    if (hasTasks) await expect.poll(async () => (await read(path)).status, SOON).toBe('running')
    const { json } = await directory.delete(path, { as: 'tokC' })
    expect(json).toMatchObject({ status: 'cancelled' })
    await stopped()
    const states = hasTasks ? ['confirmed', 'stopped'] : ['stopped']
    await expect.poll(async () => states.includes((await read(path)).cancellation.state), SOON).toBe(true)
    expect(await read(path)).not.toHaveProperty('result')
  })

  it('is told to stop when the caller of a stream disconnects', async () => {
    await callAndLeave(agent, 'text/event-stream')
    await stopped()
  })

  it('is told to stop when the caller of a plain call disconnects', async () => {
    await callAndLeave(agent, 'application/json')
    await stopped()
  })
})

describe('after a restart of the directory', () => {
  it.each([
    ['A2A 1.0', CANCELLABLE[2]],
    ['A2A 0.3 with its own SDK', CANCELLABLE[8]],
    ['HTTP', CANCELLABLE[10]],
  ] as const)('an agent that speaks %s is told to stop work that it accepted before', async (_, cancellable) => {
    const [, start] = cancellable ?? expect.fail()
    const agent = await start(folder)
    await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify(agent.document) })
    const path = await defer(agent)
    await directory.restart()
    expect(await read(path)).toMatchObject({ status: 'running' })
    expect((await directory.delete(path, { as: 'tokC' })).json).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => agent.seen.stopped, SOON).toBe(1)
    await expect.poll(async () => (await read(path)).cancellation, SOON).toEqual({ state: 'confirmed', attempts: 1 })
    await directory.clear()
    await agent.close()
  })
})
