import type { JsonObject } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { expectError } from '../support/errors.js'
import { echo, type Reply, sendJson } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp({ gateway: { timeoutMs: 500 } })

/** How an agent may fail for the input `poison`; it echoes any other. */
const FAILURES: Record<string, Reply> = {
  'sends 503': (_, response) => sendJson(response, null, 503),
  crashes: (_, response) => response.destroy(),
  'sends invalid JSON': (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a"'),
  hangs: () => {},
}

type Call = (text: string) => ReturnType<typeof setup.call>

let agents = 0
/** Registers an agent that was not called before, and returns calls of it by several subjects. */
async function registerForCallers(changes: JsonObject = {}): Promise<[Call, Call, Call]> {
  const id = `agent-${agents++}`
  await setup.register({ id, ...changes })
  const callAs = async (subject: string): Promise<Call> => {
    const key = await setup.directory.makeKey({ subject, scopes: ['invoke'] })
    return (text) => setup.call({ text }, { key, path: `/agents/${id}/invoke` })
  }
  return [await callAs('alice'), await callAs('bob'), await callAs('carol')]
}

describe('input with which an agent fails', () => {
  it.each(Object.entries(FAILURES))('cuts off only the caller who sends it, if the agent %s', async (_, failure) => {
    const [attacker, ...others] = await registerForCallers()
    setup.agent.reply = (received, ...rest) => (received.json.text === 'poison' ? failure : echo)(received, ...rest)
    for (let i = 0; i < 5; i++) expect((await attacker('poison')).status).toBeGreaterThanOrEqual(500)
    const sent = setup.agent.calls.length
    const refused = await attacker('harmless')
    expectError(refused, { status: 503, code: 'unavailable', says: /your last calls to the agent failed/ })
    expect(setup.agent.calls).toHaveLength(sent)
    for (const call of others) expect(await call('harmless')).toMatchObject({ status: 200, json: { text: 'harmless' } })
  })
})

describe('an agent that fails for several callers', () => {
  it('AIDIP-5.2-12 is not called for anyone for a while', async () => {
    const callers = await registerForCallers()
    setup.agent.reply = (_, response) => response.destroy()
    for (const call of callers) expectError(await call('a'), { status: 502 })
    const sent = setup.agent.calls.length
    const refused = await setup.call({ text: 'a' }, { path: `/agents/agent-${agents - 1}/invoke` })
    expectError(refused, { status: 503, code: 'unavailable', says: /the agent has failed repeatedly/ })
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(setup.agent.calls).toHaveLength(sent)
  })

  it('AIDIP-5.2-12 is not called for anyone if one caller finds that it cannot be reached', async () => {
    const [first, second] = await registerForCallers({ endpoint: 'http://127.0.0.1:1/agent' })
    for (let i = 0; i < 5; i++) await first('a')
    expectError(await second('a'), { status: 503, says: /the agent has failed repeatedly/ })
  })
})
