import { array, object, pipe, string, transform } from 'valibot'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AgentOptions, type CheckedCapability, capability, createAgent, withJsonSchema } from '../src/index.js'
import { closeAll, post, send, track } from './support/agents.js'

afterEach(closeAll)

async function start(capabilities: readonly CheckedCapability[], more: Partial<AgentOptions> = {}): Promise<string> {
  const about = { name: 'tester', version: '1.0.0', description: 'Tests schemas.', onError: () => {} }
  const agent = track(createAgent({ ...about, ...more, capabilities }))
  const { url = '' } = await agent.listen()
  return url
}

const startZod = (more: Partial<AgentOptions> = {}) =>
  start(
    [
      capability({
        name: 'year',
        input: z.object({ date: z.iso.date().transform((text) => new Date(text)), shift: z.int().default(0) }),
        output: z.object({ year: z.int().min(1970) }),
        handler: ({ date, shift }) => ({ year: date.getUTCFullYear() + shift, secret: 'left out' }),
      }),
    ],
    more,
  )

describe('a Standard Schema', () => {
  it('parses the input for the handler, and the output for the caller', async () => {
    const url = await startZod()
    const response = await post(`${url}/year`, { date: '2024-05-01' })
    expect([response.status, response.json]).toEqual([200, { year: 2024 }])
  })

  it('rejects inputs that do not match, and names every member', async () => {
    const url = await startZod()
    const response = await post(`${url}/year`, { date: 'May', shift: 'x' })
    expect(response.status).toBe(400)
    expect(response.json.error.details.map(({ member }: { member: string }) => member)).toEqual(['/date', '/shift'])
  })

  it('checks outputs according to checkOutput', async () => {
    const bad = { date: '1969-05-01' }
    const warned = await post(`${await startZod()}/year`, bad)
    expect([warned.status, warned.headers.get('x-output-valid')]).toEqual([200, 'false'])
    expect((await post(`${await startZod({ checkOutput: 'strict' })}/year`, bad)).status).toBe(500)
    const unchecked = await post(`${await startZod({ checkOutput: 'off' })}/year`, bad)
    expect(unchecked.json).toEqual({ year: 1969, secret: 'left out' })
  })

  it('is published as the JSON Schema that the library converts it to', async () => {
    const url = await startZod()
    const { json } = await send(`${url}/.well-known/agent.json`)
    expect(json.skills[0].input).toMatchObject({
      type: 'object',
      properties: { date: { type: 'string', format: 'date' }, shift: { type: 'integer', default: 0 } },
      required: ['date'],
    })
    expect(json.skills[0].output).toMatchObject({ properties: { year: { type: 'integer', minimum: 1970 } } })
  })

  it('can be given an explicit JSON Schema', async () => {
    const words = object({
      text: pipe(
        string(),
        transform((text) => text.split(' ')),
      ),
    })
    const input = withJsonSchema(words, { text: 'string' })
    const output = withJsonSchema(object({ words: array(string()) }), { words: 'array' })
    const url = await start([
      capability({ name: 'split', input, output, handler: ({ text }) => ({ words: text.toSorted() }) }),
    ])
    expect((await post(`${url}/split`, { text: 'b a' })).json).toEqual({ words: ['a', 'b'] })
    expect((await post(`${url}/split`, { text: 1 })).status).toBe(400)
    const { json } = await send(`${url}/.well-known/agent.json`)
    expect(json.skills[0].input.properties).toEqual({ text: { type: 'string' } })
  })

  it.each([
    ['without a JSON Schema', object({ text: string() }), /"greet".*input is a schema of valibot.*withJsonSchema/],
    ['that JSON Schema cannot express', z.object({ at: z.date() }), /"greet".*input cannot be converted.*zod.*Date/],
    ['with a pattern that directories reject', z.object({ a: z.string().regex(/(?=a)/) }), /"greet".*pattern/],
  ])('%s is an error when the agent is created', (_case, input, message) => {
    const about = { name: 'tester', version: '1.0.0', description: 'Tests schemas.' }
    expect(() => createAgent({ ...about, capabilities: [{ name: 'greet', input, handler: () => 1 }] })).toThrow(message)
  })
})

describe('capability', () => {
  it('returns a definition that can be spread and changed', async () => {
    const greet = capability({ name: 'greet', input: { name: 'string' }, handler: ({ name }) => `Hello, ${name}!` })
    const shout = capability({ ...greet, name: 'shout', handler: ({ name }) => `HELLO, ${name}!` })
    const url = await start([greet, shout, capability({ ...greet, name: 'slow', deferred: true })])
    expect((await post(`${url}/greet`, { name: 'Ann' })).json).toBe('Hello, Ann!')
    expect((await post(`${url}/shout`, { name: 'Ann' })).json).toBe('HELLO, Ann!')
    expect((await post(`${url}/slow`, { name: 'Ann' })).status).toBe(202)
  })
})

describe('a map of names to types', () => {
  const make = (input: Record<string, string | object>) =>
    createAgent({
      ...{ name: 'tester', version: '1.0.0', description: 'Tests schemas.' },
      capabilities: [capability({ name: 'greet', input: JSON.parse(JSON.stringify(input)), handler: () => 1 })],
    })

  it('with an unknown type is an error that names capability, member, type and the known types', () => {
    expect(() => make({ name: 'string', phrases: 'string[]' })).toThrow(
      /capability "greet".*input member "phrases".*"string\[\]".*string, number, integer, boolean, array.*JSON Schema/,
    )
    expect(() => make({ title: 'str', pages: 'integer' })).toThrow(/member "title" has the unknown type "str"/)
    expect(() => make({ text: 'string', options: { type: 'object' } })).toThrow(/member "options"/)
  })

  it.each([
    [{ name: 'string', age: 'integer?' }],
    [{ type: 'object' }],
    [{ type: 'string', description: 'A name.' }],
    [{ title: 'Anything', description: 'No constraint.' }],
    [{ properties: { a: { type: 'string' } }, note: 'Unknown keywords are fine.' }],
    [{ type: 'string', 'x-widget': 'textarea' }],
    [{ $comment: 'Anything.', hint: 'free' }],
  ])('or a JSON Schema such as %j is accepted', (input) => {
    expect(() => make(input)).not.toThrow()
  })
})
