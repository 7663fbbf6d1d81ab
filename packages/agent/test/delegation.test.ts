import { delegate, didKeyOf, type SigningKey } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { HandlerContext } from '../src/index.js'
import { closeAll, echo, makeKey, post, startAgent, type TestOptions } from './support/agents.js'

afterEach(closeAll)

const LOCAL = { outgoing: { httpLoopback: true }, allowPrivate: true }

/** A person with a key, who starts delegation chains. */
function makePerson() {
  const key = makeKey()
  const did = didKeyOf(key.jwk)
  const signingKey: SigningKey = { id: `${did}#${did.slice('did:key:'.length)}`, jwk: key.jwk }
  const delegateTo = (audience: string, more: Partial<Parameters<typeof delegate>[0]> = {}): Promise<string> =>
    delegate({
      issuer: did,
      subject: did,
      audience,
      key: signingKey,
      now: Date.now,
      newId: () => crypto.randomUUID(),
      ...more,
    })
  return { did, delegateTo, key: signingKey }
}

/** An agent that delegates its task to the next agent; the last one returns who delegated it. */
const passing = (next?: string, more: TestOptions = {}): TestOptions => ({
  ...LOCAL,
  key: makeKey(),
  capabilities: [
    {
      name: 'pass',
      async handler(_: object, context: HandlerContext) {
        const actors = [...(context.delegation?.actors ?? [])]
        if (next === undefined) return { actors, subject: context.delegation?.subject ?? null }
        const { output } = await context.call(next, {})
        return { inner: output instanceof Uint8Array ? null : output }
      },
    },
  ],
  ...more,
})

const chained = (chain: string) => ({ 'x-delegation-chain': chain })

describe('a delegation chain', () => {
  it('AURI-8-07 AURI-8.3.2-01 AURI-8.3.2-02 AURI-10-10 grows by a hop with each agent, and the last one sees them in order', async () => {
    const person = makePerson()
    const translator = await startAgent(passing())
    const booker = await startAgent(passing(`agent://${translator.host}/pass`))
    const planner = await startAgent(passing(`agent://${booker.host}/pass`))
    const response = await post(`${planner.url}/pass`, {}, chained(await person.delegateTo(planner.url)))
    expect(response.json.inner.inner).toEqual({ actors: [person.did, planner.url, booker.url], subject: person.did })
  })

  it('AURI-8.2-01 AURI-8.2-02 is reported in the response, agent by agent', async () => {
    const first = await startAgent(passing())
    const second = await startAgent()
    const both = await startAgent({
      ...LOCAL,
      capabilities: [
        {
          name: 'both',
          async handler(_: object, context: HandlerContext) {
            const one = await context.call(`agent://${first.host}/pass`, {})
            const two = await context.call(`agent://${second.host}/echo?text=hi`)
            return { outputs: [one.output, two.output].map((output) => JSON.stringify(output)) }
          },
        },
      ],
    })
    const { json } = await post(`${both.url}/both`, {})
    expect(json.outputs).toHaveLength(2)
    expect(json.outputs[1]).toBe('{"text":"hi"}')
    expect(json.metadata.taskTrace).toEqual([
      { agent: `agent://${first.host}/pass` },
      { agent: `agent://${second.host}/echo` },
    ])
  })

  it('is started by an agent that has a key if the call has no chain', async () => {
    const last = await startAgent(passing())
    const first = await startAgent(passing(`agent://${last.host}/pass`))
    const { json } = await post(`${first.url}/pass`, {})
    expect(json.inner.actors).toEqual([first.url])
  })

  it('AURI-10-11 is rejected if it is forged, expired, replayed, for another audience, circular or too long', async () => {
    const person = makePerson()
    const { url } = await startAgent(passing())
    const callWith = (chain: string) => post(`${url}/pass`, {}, chained(chain))
    const good = await person.delegateTo(url)
    expect((await callWith(good)).status).toBe(200)
    const reasonOf = async (chain: string): Promise<[number, string]> => {
      const { status, json } = await callWith(chain)
      return [status, json.reason]
    }
    expect(await reasonOf(good)).toEqual([403, 'replayed'])
    const forged = await person.delegateTo(url, { key: { ...makeKey(), id: person.key.id } })
    expect(await reasonOf(forged)).toEqual([403, 'bad_signature'])
    const expired = await person.delegateTo(url, { now: () => Date.now() - 3_600_000 })
    expect(await reasonOf(expired)).toEqual([403, 'expired'])
    expect(await reasonOf(await person.delegateTo('https://other.example'))).toEqual([403, 'wrong_audience'])
    expect(await reasonOf('not.a.chain')).toEqual([403, 'malformed'])
    expect(await reasonOf(`${good},${good}`)).toEqual([403, 'broken_chain'])
    expect(await reasonOf('x'.repeat(20_000))).toEqual([403, 'too_long'])
  })

  it('AURI-10-11 never leads back to an agent that is already part of it', async () => {
    const person = makePerson()
    let home = ''
    const calls: string[] = []
    const target: TestOptions['capabilities'] = [
      {
        name: 'pass',
        async handler(_: object, context: HandlerContext) {
          calls.push('second')
          return String((await context.call(home, {})).output)
        },
      },
    ]
    const second = await startAgent(passing(undefined, { capabilities: target }))
    const first = await startAgent(
      passing(undefined, {
        capabilities: [
          {
            name: 'pass',
            async handler(_: object, context: HandlerContext) {
              calls.push('first')
              return String((await context.call(`agent://${second.host}/pass`, {})).output)
            },
          },
        ],
      }),
    )
    home = `agent://${first.host}/pass`
    const response = await post(`${first.url}/pass`, {}, chained(await person.delegateTo(first.url)))
    expect(response.status).toBeGreaterThanOrEqual(500)
    expect(calls).toEqual(['first', 'second'])
  })

  it('can be required, and checked by the agent', async () => {
    const [ann, ben] = [makePerson(), makePerson()]
    const { url } = await startAgent(
      passing(undefined, {
        delegation: { required: true },
        allow: ({ delegation }) => delegation?.subject === ann.did,
      }),
    )
    expect((await post(`${url}/pass`, {})).status).toBe(403)
    expect((await post(`${url}/pass`, {}, chained(await ann.delegateTo(url)))).status).toBe(200)
    expect((await post(`${url}/pass`, {}, chained(await ben.delegateTo(url)))).status).toBe(403)
  })

  it('may have any configured identity of the agent as audience', async () => {
    const person = makePerson()
    const { url } = await startAgent(passing(undefined, { delegation: { identities: ['did:web:a.example'] } }))
    expect((await post(`${url}/pass`, {}, chained(await person.delegateTo('did:web:a.example')))).status).toBe(200)
  })

  it('AIDIP-5.2-13 fails as a whole if an inner call fails, without revealing its details', async () => {
    const failing = await startAgent({
      capabilities: [{ ...echo, handler: () => Promise.reject(new Error('secret')) }],
    })
    const composite = await startAgent(passing(`agent://${failing.host}/echo?text=a`))
    const response = await post(`${composite.url}/pass`, {})
    expect([response.status, response.json.error.code]).toEqual([502, 'AgentError'])
    expect(response.text).not.toContain('secret')
  })
})
