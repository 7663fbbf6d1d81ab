import type { JsonObject } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { startMcpAgent } from './mcp-agent.js'
import { startStatelessMcpAgent } from './mcp-stateless-agent.js'

let directory: TestDirectory
let stateless: Awaited<ReturnType<typeof startStatelessMcpAgent>>
let earlier: Awaited<ReturnType<typeof startMcpAgent>>

beforeAll(async () => {
  directory = await startDirectory()
  const tools = [{ name: 'count', inputSchema: { type: 'object' as const } }]
  const count = () => ({ content: [], structuredContent: { ok: true } })
  stateless = await startStatelessMcpAgent(count, { tools })
  earlier = await startMcpAgent(count, { tools: [tools] })
})
afterEach(async () => {
  stateless.seen.splice(0)
  earlier.seen.splice(0)
  await directory.clear()
})
afterAll(async () => {
  await directory.close()
  await stateless.close()
  await earlier.close()
})

async function register(remote: JsonObject): Promise<void> {
  const document = { name: 'example/m', description: 'tools', version: '1.0.0', remotes: [remote] }
  const { text } = await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify({ id: 'm', ...document }) })
  expect(text).toContain('"created"')
}
/** Sessions of earlier tests may still be ending. */
const calls = (agent: { methods(): string[] }) => agent.methods().filter((method) => method !== 'DELETE')
const call = (headers: Record<string, string> = {}) =>
  directory.post('/agents/m/count', { as: 'tokC', body: {}, headers })

describe.each(['2026-07-28', '2025-11-25'])('the remote of a server.json, for a server of %s', (version) => {
  const agent = () => (version === '2026-07-28' ? stateless : earlier)

  it('is called with the headers that it asks for: fixed, sent by the caller, or by default', async () => {
    const headers = [
      { name: 'X-Fixed', value: 'of {who}', variables: { who: { default: 'the publisher' } } },
      { name: 'X-Region', isRequired: true, choices: ['eu', 'us'] },
      { name: 'X-Units', default: 'metric' },
      { name: 'X-Optional' },
      { name: 'Host', value: 'evil.example' },
    ]
    await register({ type: 'streamable-http', url: agent().url, headers })
    const answer = await call({ 'x-agent-variables': 'X-Region=eu' })
    expect(answer.json, answer.text).toEqual({ ok: true })
    for (const { headers: sent } of agent().seen) {
      expect(sent).toMatchObject({ 'x-fixed': 'of the publisher', 'x-region': 'eu', 'x-units': 'metric' })
      expect(sent).not.toHaveProperty('x-optional')
      expect(sent.host).not.toBe('evil.example')
    }
  })

  it('requests a secret header from the caller before anything is sent', async () => {
    const headers = [{ name: 'X-Weather-Key', description: 'from weather.example', isRequired: true, isSecret: true }]
    await register({ type: 'streamable-http', url: agent().url, headers })
    expectError(await call(), {
      status: 401,
      says: /the header X-Weather-Key \(from weather\.example\): send X-Agent-Variables: X-Weather-Key=/,
    })
    expect(calls(agent())).toEqual([])
    expect((await call({ 'x-agent-variables': 'x-weather-key=s3cret' })).json).toEqual({ ok: true })
    expect(agent().seen.at(-1)?.headers).toMatchObject({ 'x-weather-key': 's3cret' })
  })

  it('is given the operator’s credential for a header', async () => {
    const headers = [{ name: 'X-Weather-Key', isRequired: true, isSecret: true }]
    await register({ type: 'streamable-http', url: agent().url, headers })
    const credential = { type: 'api_key', key: 'stored', header: 'X-Weather-Key' }
    await directory.put('/admin/agents/m/credential', { as: 'admin', body: credential })
    expect((await call()).json).toEqual({ ok: true })
    expect(agent().seen.at(-1)?.headers).toMatchObject({ 'x-weather-key': 'stored' })
    await directory.delete('/admin/agents/m/credential', { as: 'admin' })
  })

  it('takes X-Agent-Authorization as its Authorization header, and says so', async () => {
    const variables = { token: { isRequired: true, isSecret: true } }
    const headers = [{ name: 'Authorization', value: 'Bearer {token}', isRequired: true, isSecret: true, variables }]
    await register({ type: 'streamable-http', url: agent().url, headers })
    expectError(await call(), { status: 401, says: /the variable token: send X-Agent-Variables: token=/ })
    for (const sent of [{ 'x-agent-authorization': 'Bearer abc' }, { 'x-agent-variables': 'token=abc' }]) {
      expect((await call(sent)).json).toEqual({ ok: true })
      expect(agent().seen.at(-1)?.headers).toMatchObject({ authorization: 'Bearer abc' })
    }
  })

  it('has the variables of its URL filled in, encoded', async () => {
    const url = `${agent().url}?tenant={tenant}&mode={mode}`
    const variables = { tenant: { isRequired: true, description: 'your workspace' }, mode: { default: 'fast' } }
    await register({ type: 'streamable-http', url, variables })
    const missing = await call()
    expectError(missing, { status: 400, says: /the variable tenant \(your workspace\)/ })
    expect(calls(agent())).toEqual([])
    expect((await call({ 'x-agent-variables': 'tenant=a%26b' })).json).toEqual({ ok: true })
  })
})

describe('the variables of a remote', () => {
  it('are requested also if they are part of its host', async () => {
    await register({
      type: 'streamable-http',
      url: 'https://{tenant}.example/mcp',
      variables: { tenant: { isRequired: true } },
    })
    expectError(await call(), { status: 400, says: /the variable tenant/ })
  })

  it('never give the operator’s credential to another host', async () => {
    const { hostname, port } = new URL(stateless.url)
    await register({ type: 'streamable-http', url: `https://{host}:${port}/mcp`, variables: { host: {} } })
    await directory.put('/admin/agents/m/credential', { as: 'admin', body: { type: 'bearer', token: 'stored' } })
    const headers = { 'x-agent-variables': `host=${hostname}` }
    const answer = await directory.post('/agents/m/invoke', { as: 'tokC', body: {}, headers })
    expectError(answer, { status: 502, says: /has moved/ })
    expect(stateless.seen).toEqual([])
    await directory.delete('/admin/agents/m/credential', { as: 'admin' })
  })

  it('must be among the choices', async () => {
    const headers = [{ name: 'X-Region', choices: ['eu', 'us'] }]
    await register({ type: 'streamable-http', url: stateless.url, headers })
    expectError(await call({ 'x-agent-variables': 'X-Region=moon' }), { status: 400, says: /choose eu, us/ })
  })

  it('are not sent if they contain the caller’s key for the directory', async () => {
    const headers = [{ name: 'X-Region', isRequired: true }]
    await register({ type: 'streamable-http', url: stateless.url, headers })
    const key = await directory.makeKey({ subject: 'tokC', scopes: ['invoke', 'discover'] })
    const answer = await directory.post('/agents/m/count', {
      key,
      body: {},
      headers: { 'x-agent-variables': `X-Region=${key}` },
    })
    expectError(answer, { status: 400, says: /X-Agent-Variables.*never forwarded/ })
  })
})
