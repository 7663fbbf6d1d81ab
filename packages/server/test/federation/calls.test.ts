import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULTS } from '../../src/config/settings.js'
import { startAgent, type TestAgent } from '../invoke/agent.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'

let agent: TestAgent
let origin: TestDirectory
let reader: TestDirectory

beforeEach(async () => {
  agent = await startAgent()
  origin = await startDirectory()
  reader = await startDirectory()
})
afterEach(() => Promise.all([agent.close(), origin.close(), reader.close()]))

/** Registers the agent at the origin and waits until the reader knows it. */
async function federate(changes = {}): Promise<void> {
  expect((await origin.post('/agents', { as: 'tokA', body: agent.document(changes) })).status).toBe(201)
  const token = await origin.makeKey({ subject: 'reader', scopes: ['discover', 'invoke'] })
  const body = { name: 'origin', url: origin.url, trust: 'full', interval_seconds: 1, token }
  await reader.post('/admin/peers', { as: 'admin', body })
  await vi.waitFor(async () => expect((await reader.get('/agents/x')).status).toBe(200), { timeout: 20_000 })
}

const invoke = (headers: Record<string, string> = {}) =>
  reader.post('/agents/x/invoke', { as: 'tokC', body: { text: 'hello' }, headers })

describe('a call to an agent of another directory', () => {
  it('goes directly to the address in its document, and names the origin', async () => {
    await federate()
    const { status, json, headers } = await invoke()
    expect(status).toBe(200)
    expect(json).toMatchObject({ text: 'hello' })
    expect(headers.get('x-origin-service')).toBe(origin.url)
    const [call] = agent.calls
    expect(call?.headers.via?.split(',')).toHaveLength(1)
    expect(call?.headers.authorization).toBeUndefined()
    await vi.waitFor(async () =>
      expect((await reader.get('/admin/audit?action=invoke', { as: 'admin' })).text).toContain(
        `registered at ${origin.url}`,
      ),
    )
  })

  it('goes through the gateway of the origin if its address is private there', async () => {
    await federate({ private: ['endpoint'] })
    expect((await reader.get('/agents/x')).text).not.toContain(agent.url)
    const { status, json } = await invoke()
    expect(status).toBe(200)
    expect(json).toMatchObject({ text: 'hello' })
    expect(agent.calls[0]?.headers.via?.split(',')).toHaveLength(2)
  })

  it('gives neither the caller’s credentials nor its key to the directory at the origin', async () => {
    await federate({ private: ['endpoint'] })
    const seen = vi.fn()
    agent.reply = ({ headers }, response) => {
      seen(JSON.stringify(headers))
      response.setHeader('content-type', 'application/json').end('{"text":"ok"}')
    }
    for (const header of ['X-Agent-API-Key', 'X-Agent-Authorization']) {
      const refused = await invoke({ [header]: 'callers-secret' })
      expect(refused.status).toBe(400)
      expect(refused.text).toContain(header)
    }
    expect(agent.calls).toEqual([])
    expect((await invoke()).status).toBe(200)
    const audit = await origin.get('/admin/audit?action=invoke', { as: 'admin' })
    expect(audit.json.entries).toMatchObject([{ actor: 'reader', agent: 'x' }])
    expect(seen.mock.calls.join()).not.toContain('callers-secret')
  })

  it('does not go to a socket on this machine, but to the machine where the agent is registered', async () => {
    const policy = { ...DEFAULTS.policy, schemes: [...DEFAULTS.policy.schemes, 'unix'] }
    await Promise.all([origin.restart({ policy }), reader.restart({ policy, gateway: { socketFolders: ['/tmp'] } })])
    await federate({ endpoint: 'unix:/tmp/switchboard-none.sock' })
    await invoke()
    await vi.waitFor(async () => {
      const { json } = await origin.get('/admin/audit?action=invoke', { as: 'admin' })
      expect(json.entries).toMatchObject([{ actor: 'reader', agent: 'x', outcome: 'refused' }])
    })
  })

  it('uses a relative address at its origin', async () => {
    await federate({ endpoint: '/agents/elsewhere' })
    expect((await reader.get('/ad/l?agent=x')).json.agents[0].base).toBe(`${origin.url}/agents/elsewhere`)
  })
})
