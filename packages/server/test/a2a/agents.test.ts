import type { IncomingMessage, ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { TaskState, verifyAgentCardSignature } from '@a2a-js/sdk'
import { type JsonObject, verifyDocument } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHttpAgent, type TestAgent } from '../gateway/agent.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { connect, connect03, eventsOf, outputOf, say, say03, taskOf } from './clients.js'

let directory: TestDirectory
let agent: TestAgent
let key: string
let aborted = 0
const cardUrl = (id: string): string => `${directory.url}/agents/${id}/agent-card.json`

/** Speaks plain HTTP: writes a text in capital letters, word by word if it is asked for a stream. */
async function shout(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('close', () => {
    if (!response.writableFinished) aborted++
  })
  const { text } = JSON.parse(await readText(request))
  if (text === 'wait') return
  if (text === 'fail') return void response.writeHead(500).end()
  const loud = String(text).toUpperCase()
  if (!request.headers.accept?.includes('text/event-stream')) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ loud }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const word of loud.split(' ')) response.write(`data: ${JSON.stringify(word)}\n\n`)
  if (text === 'on and on') return
  response.end('data: [DONE]\n\n')
}

/** Registers the agent under another name. */
async function register(more: JsonObject): Promise<void> {
  const { status, text } = await directory.post('/agents', {
    as: 'tokA',
    body: {
      id: 'shouter',
      name: 'Shouter',
      description: 'Writes a text in capital letters.',
      endpoint: agent.url,
      capabilities: ['shouting'],
      operations: [{ name: 'shout', inputs: { text: 'string' }, outputs: {} }],
      ...more,
    },
  })
  expect(status, text).toBe(201)
}

beforeAll(async () => {
  directory = await startDirectory({ secret: 's'.repeat(32), gateway: { timeoutMs: 10_000 } })
  agent = await startHttpAgent(shout)
  key = await directory.makeKey({ subject: 'caller', scopes: ['discover', 'invoke'] })
  await register({})
})
afterAll(async () => {
  await agent.close()
  await directory.close()
})

describe('an agent that speaks no A2A, for the official client of A2A 1.0', () => {
  it('has a card that lists only what the directory answers, and no members of others', async () => {
    const { json, headers } = await directory.get('/agents/shouter/agent-card.json')
    expect(json).toMatchObject({
      name: 'Shouter',
      capabilities: { streaming: true },
      supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
        url: `${directory.url}/agents/shouter/a2a`,
        protocolBinding: 'JSONRPC',
        protocolVersion,
      })),
      skills: [{ id: 'shout' }],
    })
    expect(json).not.toHaveProperty('verification')
    expect(headers.get('link')).toBe('</agents/shouter>; rel="describedby"')
  })

  it('has a card that the directory has signed, for those who parse it and for those who do not', async () => {
    const { json } = await directory.get('/agents/shouter/agent-card.json')
    const { keys } = (await directory.get('/.well-known/jwks.json')).json
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      expect(jku).toBe(`${directory.url}/.well-known/jwks.json`)
      return keys.find((each: { kid: string }) => each.kid === kid)
    })
    await verify(json)
    await expect(verify({ ...json, name: 'Forged' })).rejects.toThrow('No valid signatures')
    const published = keys.map((jwk: { kid: string }) => ({ id: jwk.kid, jwk }))
    expect(await verifyDocument(json, published)).toMatchObject({ algorithm: 'EdDSA' })
  })

  it('answers text and data', async () => {
    const client = await connect(cardUrl('shouter'), key)
    expect(outputOf(await client.sendMessage(say('hello')))).toEqual([{ loud: 'HELLO' }])
    expect(outputOf(await client.sendMessage(say({ text: 'you' }, { skill: 'shout' })))).toEqual([{ loud: 'YOU' }])
  })

  it('streams what the agent streams', async () => {
    const client = await connect(cardUrl('shouter'), key)
    const stream = client.sendMessageStream(say('one two'))
    const { TASK_STATE_WORKING: working, TASK_STATE_COMPLETED: completed } = TaskState
    let id = ''
    const seen = await eventsOf(stream, ({ payload }) => {
      if (payload?.$case === 'task') id = payload.value.id
    })
    expect(seen).toEqual([working, ['ONE'], ['TWO'], completed])
    const task = await client.getTask({ tenant: '', id })
    expect([task.status?.state, outputOf(task)]).toEqual([completed, ['ONE', 'TWO']])
  })

  it('stops the agent if a streamed task is cancelled', async () => {
    const client = await connect(cardUrl('shouter'), key)
    const before = aborted
    const seen = await eventsOf(client.sendMessageStream(say('on and on')), async ({ payload }) => {
      if (payload?.$case !== 'artifactUpdate' || payload.value.artifact?.parts[0]?.content?.value !== 'AND') return
      const task = await client.cancelTask({ tenant: '', id: payload.value.taskId, metadata: {} })
      expect(task.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    })
    expect(seen.at(-1)).toBe(TaskState.TASK_STATE_CANCELED)
    await expect.poll(() => aborted).toBe(before + 1)
  })

  it('returns a task without waiting, which can be polled', async () => {
    const client = await connect(cardUrl('shouter'), key)
    const task = taskOf(await client.sendMessage(say('later', { returnImmediately: true })))
    const read = () => client.getTask({ tenant: '', id: task.id })
    await expect.poll(async () => (await read()).status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(outputOf(await read())).toEqual([{ loud: 'LATER' }])
    // It is the same task in the directory's own interface.
    expect((await directory.get(`/tasks/${task.id}`, { key })).json).toMatchObject({ status: 'completed' })
    await expect(client.sendMessage(say('more', { taskId: task.id }))).rejects.toThrow('takes no further messages')
  })

  it('returns a task that can be cancelled, by its caller only', async () => {
    const client = await connect(cardUrl('shouter'), key)
    const { id } = taskOf(await client.sendMessage(say('wait', { returnImmediately: true })))
    const stranger = await connect(cardUrl('shouter'), await directory.makeKey({ subject: 'x', scopes: ['invoke'] }))
    await expect(stranger.getTask({ tenant: '', id })).rejects.toThrow(/there is no task/)
    await expect(stranger.cancelTask({ tenant: '', id, metadata: {} })).rejects.toThrow(/there is no task/)
    const cancelled = await client.cancelTask({ tenant: '', id, metadata: {} })
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
  })

  it('checks messages, rights and limits as a call does', async () => {
    const client = await connect(cardUrl('shouter'), key)
    await expect(client.sendMessage(say({ words: 1 }))).rejects.toThrow(/text.*required|required.*text/)
    await expect(client.sendMessage(say('x', { skill: 'whisper' }))).rejects.toThrow('no operation "whisper"')
    await expect(client.sendMessage(say('fail'))).rejects.toThrow('the agent encountered an unexpected error')
    const weak = await connect(cardUrl('shouter'), await directory.makeKey({ subject: 'y', scopes: ['discover'] }))
    await expect(weak.sendMessage(say('x'))).rejects.toThrow('403')
    const nobody = await connect(cardUrl('shouter'))
    await expect(nobody.sendMessage(say('x'))).rejects.toThrow('401')
    const { json } = await directory.get('/admin/audit?agent=shouter&action=invoke', { as: 'admin' })
    const outcomes = json.entries.map(({ actor, outcome }: Record<string, string>) => `${actor} ${outcome}`)
    expect(outcomes).toEqual(expect.arrayContaining(['caller ok', 'y refused']))
  })

  it('is hidden from those who may not see it', async () => {
    await register({ id: 'secret', visibility: 'private' })
    const { status } = await directory.post('/agents/secret/a2a', { key, body: { jsonrpc: '2.0', method: 'GetTask' } })
    expect(status).toBe(404)
  })

  it.each([
    ['{', 400, -32700],
    ['[]', 400, -32700],
    ['7', 400, -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"Unknown","params":{}}', 200, -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"GetTask"}', 200, -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}', 200, -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"none"}}', 200, -32001],
  ])('says what is wrong with %s', async (raw, status, code) => {
    const answer = await directory.post('/agents/shouter/a2a', { key, raw })
    expect([answer.status, answer.json.error.code]).toEqual([status, code])
  })
})

describe('an agent that speaks no A2A, for the official client of A2A 0.3', () => {
  it('has a card of that version, and answers, streams and defers', async () => {
    const client = await connect03(`${cardUrl('shouter')}?version=0.3`, key)
    const reply = await client.sendMessage(say03('hello'))
    expect(reply).toMatchObject({ kind: 'message', parts: [{ kind: 'data', data: { loud: 'HELLO' } }] })
    const kinds: string[] = []
    for await (const event of client.sendMessageStream(say03('one two'))) kinds.push(event.kind)
    expect(kinds).toEqual(['task', 'artifact-update', 'artifact-update', 'status-update'])
    const task = await client.sendMessage(say03('wait', false))
    if (task.kind !== 'task') throw new Error('expected a task')
    expect(await client.getTask({ id: task.id })).toMatchObject({ kind: 'task', id: task.id })
    expect(await client.cancelTask({ id: task.id })).toMatchObject({ status: { state: 'canceled' } })
  })
})

describe('the directory itself', () => {
  const own = (): string => `${directory.url}/.well-known/agent-card.json`

  it('AURI-7-10 offers its discovery skill, which finds agents for an official client', async () => {
    const client = await connect(own())
    const [list, data] = outputOf(await client.sendMessage(say('find me an agent that writes capital letters')))
    expect(list).toMatch(/^These agents fit.*\n1\. shouter \(0\.\d+\): Writes a text in capital letters\.$/)
    expect(data).toMatchObject({ candidates: [{ id: 'shouter', score: expect.any(Number), card: cardUrl('shouter') }] })
  })

  it('accepts a discovery request as data, and streams its one answer', async () => {
    const client = await connect(own())
    const request = say({ query: 'capital letters', required_tags: ['none'] }, { skill: 'find_agents' })
    expect(await eventsOf(client.sendMessageStream(request))).toEqual([['No agent matches.', { candidates: [] }]])
    await expect(client.sendMessage(say({ limit: 1 }))).rejects.toThrow('query')
    await expect(client.getTask({ tenant: '', id: 'x' })).rejects.toThrow('there is no task')
  })

  it('shows each caller what it may see', async () => {
    await register({ id: 'hidden', description: 'whispers secrets', visibility: 'private' })
    const found = async (by?: string) => {
      const [, data] = outputOf(await (await connect(own(), by)).sendMessage(say('whispers secrets')))
      return JSON.stringify(data)
    }
    expect(await found()).not.toContain('hidden')
    expect(await found(directory.adminKey)).toContain('"id":"hidden"')
  })

  it('answers a client of A2A 0.3 too', async () => {
    const client = await connect03(own())
    const reply = await client.sendMessage(say03('capital letters'))
    expect(reply).toMatchObject({ kind: 'message', parts: [{ kind: 'text' }, { kind: 'data' }] })
  })
})
