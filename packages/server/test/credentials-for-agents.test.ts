import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { expectError } from './support/errors.js'
import { startServer, temporaryFolder } from './support/process.js'

let directory: TestDirectory
let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent()
  directory = await startDirectory()
})
afterAll(async () => {
  await directory.close()
  await agent.close()
})
beforeEach(async () => {
  await directory.clear()
  await directory.post('/agents', { as: 'tokA', body: agent.document() })
})

const PATH = '/admin/agents/x/credential'
const SECRET = 'the-agents-own-secret'
const set = (body: JsonObject) => directory.put(PATH, { as: 'admin', body })
const BEARER = { type: 'bearer', token: SECRET }

/** The headers that the agent receives from the gateway. */
async function receivedHeaders() {
  const answer = await directory.post('/agents/x/invoke', { as: 'tokC', body: { text: 'hello' } })
  expect(answer.status, answer.text).toBe(200)
  return agent.calls.at(-1)?.headers ?? {}
}

describe('an agent’s credential', () => {
  it('AIDIP-9-06 is sent to the agent by the gateway, and the caller’s never is', async () => {
    expect((await set(BEARER)).status).toBe(200)
    expect(await receivedHeaders()).toMatchObject({ authorization: `Bearer ${SECRET}` })
    await set({ type: 'api_key', key: SECRET })
    expect(await receivedHeaders()).toMatchObject({ 'x-api-key': SECRET })
    await set({ type: 'api_key', key: SECRET, header: 'X-Corp-Token' })
    const headers = await receivedHeaders()
    expect(headers).toMatchObject({ 'x-corp-token': SECRET })
    expect(headers).not.toHaveProperty('authorization')
    await set({ type: 'basic', username: 'gate', password: 'way: with a colon' })
    expect(await receivedHeaders()).toMatchObject({ authorization: `Basic ${btoa('gate:way: with a colon')}` })
    await directory.delete(PATH, { as: 'admin' })
    expect(await receivedHeaders()).not.toHaveProperty('authorization')
  })

  it('is returned without the secret and can be deleted', async () => {
    expectError(await directory.get(PATH, { as: 'admin' }), { status: 404 })
    const { json } = await set(BEARER)
    const origins = [new URL(agent.url).origin]
    expect(json).toEqual({ agent: 'x', type: 'bearer', origins, set_at: expect.stringMatching(/Z$/) })
    const read = await directory.get(PATH, { as: 'admin' })
    expect(read.json).toEqual(json)
    expect((await directory.delete(PATH, { as: 'admin' })).status).toBe(204)
    expectError(await directory.delete(PATH, { as: 'admin' }), { status: 404 })
  })

  it.each([
    [{ type: 'bearer' }, '/token'],
    [{ type: 'magic' }, '/type'],
    [{ type: 'bearer', token: `${SECRET}\r\nX-Evil: 1` }, '/token'],
    [{ type: 'api_key', key: SECRET, header: 'Host' }, '/header'],
    [{ type: 'api_key', key: SECRET, header: 'a b' }, '/header'],
    [{ type: 'basic', username: 'a:b', password: 'c' }, '/username'],
    [{ type: 'bearer', token: SECRET, extra: 1 }, '/extra'],
  ])('is rejected if it cannot be used: %j', async (body, member) => {
    const answer = await set(body)
    expectError(answer, { status: 400, member })
    expect(answer.text).not.toContain(SECRET)
  })

  it('is for administrators only', async () => {
    for (const as of ['tokA', 'tokC'] as const) {
      expectError(await directory.put(PATH, { as, body: BEARER }), { status: 403 })
      expectError(await directory.get(PATH, { as }), { status: 403 })
      expectError(await directory.delete(PATH, { as }), { status: 403 })
    }
    expectError(await directory.put('/admin/agents/nobody/credential', { as: 'admin', body: BEARER }), {
      status: 404,
    })
  })

  it('survives a restart', async () => {
    await set(BEARER)
    await directory.restart()
    expect(await receivedHeaders()).toMatchObject({ authorization: `Bearer ${SECRET}` })
  })

  it('is not inherited by another owner of the name', async () => {
    await set(BEARER)
    await directory.delete('/agents/x', { as: 'tokA' })
    await directory.post('/agents', { as: 'tokB', body: agent.document() })
    expect(await receivedHeaders()).not.toHaveProperty('authorization')
    expectError(await directory.get(PATH, { as: 'admin' }), { status: 404 })
    await directory.restart()
    expect(await receivedHeaders()).not.toHaveProperty('authorization')
  })

  it('is in the audit log with its type only', async () => {
    await set(BEARER)
    const { text, json } = await directory.get('/admin/audit?action=credential.set&limit=1', { as: 'admin' })
    expect(json.entries).toMatchObject([{ actor: 'admin', agent: 'x', detail: 'bearer' }])
    expect(text).not.toContain(SECRET)
  })
})

describe('credentials at rest', () => {
  it('are in no file of the store and no line of the log, and need the secret they were encrypted with', async () => {
    const folder = temporaryFolder()
    const data = join(folder.path, 'data')
    const env = { SWITCHBOARD_ADMIN_KEY: 'administrator-of-the-child' }
    const send = (url: string, method: string, path: string, body?: JsonObject) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${env.SWITCHBOARD_ADMIN_KEY}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    const args = ['--data', data, '--log-level', 'debug']
    const first = await startServer(args, { env })
    await send(first.url, 'POST', '/agents', agent.document())
    expect((await send(first.url, 'PUT', PATH, BEARER)).status).toBe(200)
    const { stdout, stderr } = await first.stop()
    expect(stdout + stderr).not.toContain(SECRET)
    for (const file of ['switchboard.db', 'secret.key']) {
      expect(readFileSync(join(data, file), 'latin1')).not.toContain(SECRET)
    }
    const other = await startServer(args, {
      env: { ...env, SWITCHBOARD_SECRET: 'another secret altogether'.replaceAll(' ', '-') },
    })
    expect((await send(other.url, 'GET', PATH)).status).toBe(404)
    expect((await other.stop()).stderr).toContain('cannot decrypt the credential')
    const again = await startServer(args, { env })
    expect((await send(again.url, 'GET', PATH)).status).toBe(200)
    await again.stop()
    folder.remove()
  })
})
