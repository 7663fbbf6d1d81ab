import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { AgentEvent, data, type Execute, message, raw, received, startA2aAgent, text } from './a2a-agent.js'
import { contentsOf, startOldA2aAgent } from './a2a-agent-03.js'
import { bodyOf, sendJson, startHttpAgent } from './agent.js'

let directory: TestDirectory
let agent: Awaited<ReturnType<typeof startA2aAgent>>
let old: Awaited<ReturnType<typeof startOldA2aAgent>>
let execute: Execute
beforeAll(async () => {
  directory = await startDirectory()
  agent = await startA2aAgent((context, publish) => execute(context, publish))
  old = await startOldA2aAgent({
    async execute({ userMessage }, bus) {
      const got = contentsOf(userMessage.parts)
      bus.publish({ kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'data', data: { got } }] })
      bus.finished()
    },
  })
})
afterEach(() => directory.clear())
afterAll(() => Promise.all([directory.close(), agent.close(), old.close()]))

const echo: Execute = (context, publish) => publish(AgentEvent.message(message([data({ got: received(context) })])))

/** What a card lists. */
interface Modes {
  readonly input?: string[]
  readonly output?: string[]
  readonly skill?: string[]
}

/** Registers the agent with these modes, as a card of the version, or so that the directory reads the card itself. */
async function register({ input = [], output = [], skill = [] }: Modes): Promise<void> {
  const card = await agent.cardOf('1.0')
  const skills = [{ id: 'echo', name: 'Echo', description: 'Says it again', tags: ['a'], inputModes: skill }]
  const raw = JSON.stringify({ ...card, id: 'a', defaultInputModes: input, defaultOutputModes: output, skills })
  expect((await directory.post('/admin/import', { as: 'admin', raw })).text).toContain('"a"')
}

const invoke = (value: unknown, headers: Record<string, string> = {}) =>
  directory.post('/agents/a/echo', { as: 'tokC', raw: JSON.stringify(value), headers })
const partsFor = async (value: unknown) => (await invoke(value)).json.got

describe('an agent that speaks A2A', () => {
  it('is sent text if it accepts only text', async () => {
    execute = echo
    await register({ input: ['text/plain'] })
    expect(await partsFor({ text: 'hello' })).toEqual([['text', 'hello']])
    expect(await partsFor({ city: 'Paris' })).toEqual([['text', 'Paris']])
    expect(await partsFor({ text: 'hello', to: 'zh' })).toEqual([['text', '{"text":"hello","to":"zh"}']])
  })

  it('is sent data if it accepts only JSON, even for a single text', async () => {
    execute = echo
    await register({ input: ['application/json'] })
    expect(await partsFor({ text: 'hello' })).toEqual([['data', { text: 'hello' }]])
  })

  it('is sent what the skill accepts, whatever the others accept', async () => {
    execute = echo
    await register({ input: ['application/json'], skill: ['text/plain'] })
    expect(await partsFor({ n: 1 })).toEqual([['text', '{"n":1}']])
  })

  it('AD-A-01 is sent what its own card says, if it was registered without one', async () => {
    execute = echo
    const body = { base: agent.url, protocols: ['a2a'], capabilities: [{ name: 'echo', type: 'skill' }] }
    await directory.post('/ad/r?agent=a', { as: 'tokA', body })
    // The card that the SDK serves lists JSON only.
    expect((await directory.post('/agents/a/invoke', { as: 'tokC', body: { text: 'hello' } })).json.got).toEqual([
      ['data', { text: 'hello' }],
    ])
  })

  it.each(['JSONRPC', 'HTTP+JSON'] as const)('is sent the same in version 0.3 over %s', async (binding) => {
    for (const [modes, expected] of [
      [['text/plain'], ['text', '{"a":1}']],
      [['application/json'], ['data', { a: 1 }]],
    ]) {
      const raw = JSON.stringify({ ...old.cardFor(binding), id: 'a', defaultInputModes: modes })
      await directory.post('/admin/import', { as: 'admin', raw })
      expect(await partsFor({ a: 1 })).toEqual([expected])
    }
  })

  it('is sent a body of plain text as text, and another type that it lists as a file', async () => {
    execute = echo
    await register({ input: ['text/plain', 'text/csv'] })
    const send = (type: string) =>
      directory.post('/agents/a/echo', { as: 'tokC', raw: 'a,b', headers: { 'content-type': type } })
    expect((await send('text/plain')).json.got).toEqual([['text', 'a,b']])
    expect((await send('text/csv')).json.got).toEqual([['raw', 'a,b']])
    expectError(await send('text/html'), { status: 415, says: 'text/csv' })
  })

  it('has a single text or file as the response to a caller who prefers its type', async () => {
    execute = (context, publish) => {
      const isText = JSON.stringify(received(context)).includes('text please')
      publish(AgentEvent.message(message([isText ? text('bonjour') : raw('a plain file')])))
    }
    await register({ output: ['text/plain', 'image/png'] })
    const answer = await invoke({ text: 'text please' }, { accept: 'text/plain' })
    expect([answer.status, answer.text]).toEqual([200, 'bonjour'])
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    expect((await invoke({ text: 'a file' }, { accept: 'text/plain' })).text).toBe('a plain file')
    // Of another type, or without a preference: as JSON.
    const other = await invoke({ text: 'a file' }, { accept: 'image/png, application/json;q=0.1' })
    expect(other.json).toMatchObject({ files: [{ mimeType: 'text/plain' }] })
    expect((await invoke({ text: 'text please' })).json).toEqual({ text: 'bonjour' })
    expectError(await invoke({ text: 'a file' }, { accept: 'audio/ogg' }), { status: 406, says: 'image/png' })
  })
})

it('an agent of A2A is told which type the caller prefers, unless that is JSON', async () => {
  const accepted: unknown[] = []
  const plain = await startHttpAgent(async (request, response) => {
    const { id, params } = JSON.parse(await bodyOf(request))
    accepted.push(params.configuration.acceptedOutputModes)
    sendJson(response, { jsonrpc: '2.0', id, result: { message: { role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } } })
  })
  const card = {
    id: 'a',
    name: 'A',
    description: 'a',
    version: '1',
    capabilities: {},
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'Echo' }],
    supportedInterfaces: [{ url: plain.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  }
  await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify(card) })
  for (const accept of ['text/plain', 'application/json', '*/*']) await invoke({ a: 1 }, { accept })
  expect(accepted).toEqual([['text/plain'], undefined, undefined])
  await plain.close()
})
