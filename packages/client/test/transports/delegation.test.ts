import { createSeenTokens, delegate, verifyDelegation } from '@switchboard/protocol'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type InvokeOptions, invokeAgent } from '../../src/index.js'
import { type AgentHost, codeOf, sendJson, startAgentHost } from './support/agent-host.js'

let host: AgentHost
let options: InvokeOptions

beforeAll(async () => {
  host = await startAgentHost()
  options = { fetch: host.fetch, allowPrivate: true }
})
afterAll(() => host.close())

const uri = (path: string): string => `agent+https://${host.authority}${path}`

/** An agent that can delegate tasks, with its own key. */
async function actor(issuer: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const [secret, open] = await Promise.all([exportJWK(privateKey), exportJWK(publicKey)])
  const id = `${issuer}#key`
  return {
    issuer,
    keys: [{ id, jwk: { ...open, alg: 'ES256' } }],
    handOn: (audience: string, chain?: string) =>
      delegate({
        issuer,
        audience,
        subject: 'https://people.example/ann',
        key: { id, jwk: { ...secret, alg: 'ES256' } },
        now: Date.now,
        newId: () => crypto.randomUUID(),
        ...(chain !== undefined && { chain }),
      }),
  }
}

describe('delegation', () => {
  it('AURI-8.3.2-02 adds a signed hop for each agent that delegates the task, and the last one can verify all', async () => {
    const person = await actor('https://people.example/ann-app')
    const planner = await actor(uri('/plan'))
    const keys = new Map([person, planner].map((one) => [one.issuer, one.keys]))
    const seen = createSeenTokens({ now: Date.now })
    host.handlers['/plan'] = async ({ headers }, response) => {
      const chain = String(headers['x-delegation-chain'])
      const reply = await invokeAgent(
        uri('/translate'),
        {},
        { ...options, taskId: 't1', delegationChain: (hop) => planner.handOn(hop.uri, chain) },
      )
      sendJson(response, 200, JSON.parse(JSON.stringify(reply.output)))
    }
    host.handlers['/translate'] = async ({ headers }, response) => {
      const check = {
        audience: uri('/translate'),
        keysOf: async (issuer: string) => keys.get(issuer) ?? [],
        now: Date.now,
        seen,
      }
      const { subject, actors } = await verifyDelegation(String(headers['x-delegation-chain']), check)
      sendJson(response, 200, { subject, actors: [...actors], task: String(headers['x-task-id']) })
    }
    const reply = await invokeAgent(uri('/plan'), {}, { ...options, delegationChain: (hop) => person.handOn(hop.uri) })
    expect(reply.output).toEqual({
      subject: 'https://people.example/ann',
      actors: [person.issuer, uri('/plan')],
      task: 't1',
    })
  })

  it('does not call if the next hop cannot be signed', async () => {
    host.seen.length = 0
    const first = await actor(uri('/plan'))
    const second = await actor(uri('/translate'))
    const chain = await first.handOn(uri('/translate'))
    // Back to an earlier agent: a loop.
    const looping = invokeAgent(
      uri('/plan'),
      {},
      { ...options, delegationChain: (hop) => second.handOn(hop.uri, chain) },
    )
    expect(await codeOf(looping)).toBe('loop')
    expect(host.seen).toEqual([])
  })
})
