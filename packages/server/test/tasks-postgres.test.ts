import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createServer } from '../src/app.js'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { NO_POSTGRES, testDatabase } from './postgres.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { expectError } from './support/errors.js'

const database = await testDatabase()

/** Within this time a server sees the changes of another one. */
const SOON = { timeout: 3000, interval: 20 }
const CREDENTIAL = { type: 'bearer', token: 'the-agents-own-token' }

describe.skipIf(!database)(database ? 'two servers on one PostgreSQL database' : `two servers, ${NO_POSTGRES}`, () => {
  let agent: TestAgent
  let one: TestDirectory
  let two: TestDirectory
  beforeAll(async () => {
    agent = await startAgent()
    const start = () => startDirectory({ database: database?.url ?? '', secret: 'one secret of all replicas' })
    one = await start()
    two = await start()
  })
  afterAll(async () => {
    await Promise.all([one.close(), two.close(), agent.close()])
    await database?.drop()
  })
  beforeEach(async () => {
    await one.clear()
    await one.post('/agents', { as: 'tokA', body: agent.document() })
    await expect.poll(async () => (await two.get('/agents/x')).status, SOON).toBe(200)
  })

  it('read and cancel each other’s tasks', async () => {
    const key = await one.makeKey({ subject: 'carol', scopes: ['invoke'] })
    await expect.poll(async () => (await two.get('/agents', { key })).status, SOON).toBe(200)
    const defer = async (): Promise<string> => {
      const headers = { prefer: 'respond-async' }
      const answer = await one.post('/agents/x/invoke', { key, body: { text: 'hello' }, headers })
      expect(answer.status, answer.text).toBe(202)
      return answer.headers.get('location') ?? ''
    }
    const done = await defer()
    const read = async (path: string) => (await two.get(path, { key })).json
    await expect.poll(() => read(done), SOON).toMatchObject({ status: 'completed', result: { text: 'hello' } })
    let closed = false
    agent.reply = (_received, response) => response.on('close', () => (closed = true))
    const hanging = await defer()
    await expect.poll(() => read(hanging), SOON).toMatchObject({ status: 'running' })
    expect((await two.delete(hanging, { key })).json).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => closed, { timeout: 10_000 }).toBe(true)
  })

  it('send the agent a credential that was set on the other server', async () => {
    agent.reply = (_received, response) => response.setHeader('content-type', 'application/json').end('{"text":"hi"}')
    await one.put('/admin/agents/x/credential', { as: 'admin', body: CREDENTIAL })
    const shown = async () => {
      await two.post('/agents/x/invoke', { as: 'admin', body: { text: 'hello' } })
      return agent.calls.at(-1)?.headers.authorization
    }
    await expect.poll(shown, SOON).toBe('Bearer the-agents-own-token')
    await one.delete('/admin/agents/x/credential', { as: 'admin' })
    await expect.poll(shown, SOON).toBeUndefined()
  })

  it('publish each other’s signing keys', async () => {
    const { json } = await one.post('/admin/signing-keys', { as: 'admin' })
    const keys = async () => (await two.get('/.well-known/jwks.json')).json.keys.at(-1)
    await expect.poll(keys, SOON).toEqual(json)
  })

  it('neither sign nor store secrets if no secret is configured', async () => {
    const bare = await startDirectory({ database: database?.url ?? '' })
    const refused = await bare.put('/admin/agents/x/credential', { as: 'admin', body: CREDENTIAL })
    expectError(refused, { status: 409, says: 'SWITCHBOARD_SECRET' })
    expectError(await bare.post('/admin/signing-keys', { as: 'admin' }), { status: 409, says: 'SWITCHBOARD_SECRET' })
    const { headers } = await bare.get('/agents', { headers: { 'accept-signature': 'sig1=()' } })
    expect(headers.has('signature')).toBe(false)
    await bare.close()
    const signing = createServer({ database: database?.url ?? '', gateway: { sign: true }, logLevel: 'silent' })
    await expect(signing).rejects.toThrow('SWITCHBOARD_SECRET')
  })
})
