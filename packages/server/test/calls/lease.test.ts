import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sendJson, startAgent, type TestAgent } from '../invoke/agent.js'
import { createTestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'

const TIMEOUT_MS = 60_000
const clock = createTestClock()
let directory: TestDirectory
let agent: TestAgent
beforeAll(async () => {
  directory = await startDirectory({ gateway: { timeoutMs: TIMEOUT_MS } }, clock)
  agent = await startAgent()
  await directory.post('/agents', { as: 'tokA', body: agent.document() })
})
afterAll(async () => {
  await directory.close()
  await agent.close()
})

it('C-61 a key is released when its call must have ended, and its result is stored for a day', async () => {
  const open: ServerResponse[] = []
  agent.reply = (_, response) => open.push(response)
  const headers = { 'idempotency-key': 'k1' }
  const call = () => directory.post('/agents/x/invoke', { as: 'tokC', body: { text: 'a' }, headers })
  // Equivalent to a crashed process: nobody waits for the call, and it has not ended.
  const first = call()
  await expect.poll(() => open.length).toBe(1)
  clock.advance(TIMEOUT_MS / 1000 + 59)
  expectError(await call(), { status: 409 })
  clock.advance(2)
  const second = call()
  await expect.poll(() => open.length).toBe(2)
  const [lost, found] = open
  if (lost) sendJson(lost, { text: 'first' })
  expect((await first).json).toEqual({ text: 'first' })
  // It ended too late to be stored for the key.
  expectError(await call(), { status: 409 })
  if (found) sendJson(found, { text: 'second' })
  expect((await second).json).toEqual({ text: 'second' })
  clock.advance(86_000)
  const replayed = await call()
  expect([replayed.json, replayed.headers.get('idempotent-replayed')]).toEqual([{ text: 'second' }, 'true'])
})
