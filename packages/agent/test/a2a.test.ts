import { type Message, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import { ClientFactory as ClientFactory03 } from 'a2a-sdk-03/client'
import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, count, echo, post, startAgent, until } from './support/agents.js'

afterEach(closeAll)

/** The official client, created from nothing but the agent's address. */
const connect = (url: string, headers: Record<string, string> = {}) => {
  const withHeaders: typeof fetch = (input, init) => {
    const all = new Headers(init?.headers)
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return fetch(input, { ...init, headers: all })
  }
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: withHeaders }),
      transports: [new JsonRpcTransportFactory({ fetchImpl: withHeaders })],
    }),
  )
  return factory.createFromUrl(url)
}

type Content = NonNullable<Message['parts'][number]['content']>

const say = (content: Content, metadata: Record<string, unknown> = {}) => ({
  tenant: '',
  configuration: undefined,
  metadata: {},
  message: {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content, metadata: {}, filename: '', mediaType: '' }],
    metadata,
    extensions: [],
    referenceTaskIds: [],
  },
})

const text = (value: string): Content => ({ $case: 'text', value })
const data = (value: unknown): Content => ({ $case: 'data', value })

const taskOf = (response: Message | Task): Task => {
  if ('messageId' in response) throw new Error('expected a task, not a message')
  return response
}
const outputsOf = (task: Task): unknown[] =>
  task.artifacts.flatMap(({ parts }) => parts.map(({ content }) => content?.value))

describe('the official A2A client', () => {
  it('sends a message to an agent built with the kit, and gets a task with the output', async () => {
    const { url } = await startAgent()
    const client = await connect(url)
    const task = taskOf(await client.sendMessage(say(data({ text: 'hi' }))))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(outputsOf(task)).toEqual([{ text: 'hi' }])
  })

  it('sends text to a capability that accepts text, and names the skill if there are several', async () => {
    const shout = {
      ...echo,
      name: 'shout',
      input: { type: 'string' },
      output: { type: 'string' },
      handler: (input: unknown) => String(input).toUpperCase(),
    }
    const { url } = await startAgent({ capabilities: [echo, shout] })
    const client = await connect(url)
    expect(outputsOf(taskOf(await client.sendMessage(say(text('hi'), { skillId: 'echo' }))))).toEqual([{ text: 'hi' }])
    expect(outputsOf(taskOf(await client.sendMessage(say(text('hi'), { skillId: 'shout' }))))).toEqual(['HI'])
    const refused = taskOf(await client.sendMessage(say(text('hi'))))
    expect(refused.status?.state).toBe(TaskState.TASK_STATE_REJECTED)
    expect(refused.status?.message?.parts[0]?.content?.value).toMatch(/must be one of "echo", "shout"/)
  })

  it('streams parts', async () => {
    const { url } = await startAgent({ capabilities: [count] })
    const client = await connect(url)
    const events: StreamResponse[] = []
    for await (const event of client.sendMessageStream(say(data({ to: 3 })))) events.push(event)
    const parts = events.flatMap(({ payload }) =>
      payload?.$case === 'artifactUpdate'
        ? (payload.value.artifact?.parts ?? []).map(({ content }) => content?.value)
        : [],
    )
    expect(parts).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    const last = events.at(-1)?.payload
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
  })

  it('reads and cancels its own tasks, and no others', async () => {
    let isStopped = false
    const slow = {
      name: 'slow',
      handler: (_: object, { signal }: { signal: AbortSignal }) =>
        new Promise<never>(() => {
          signal.addEventListener('abort', () => {
            isStopped = true
          })
        }),
    }
    const apiKeys = ['ann', 'ben'].map((subject) => ({ subject, key: subject }))
    const { url } = await startAgent({ capabilities: [slow], authentication: { apiKeys } })
    const ann = await connect(url, { 'x-api-key': 'ann' })
    const ben = await connect(url, { 'x-api-key': 'ben' })
    const stream = ann.sendMessageStream(say(data({})))
    const first = (await stream.next()).value
    const id = first?.payload?.$case === 'task' ? first.payload.value.id : ''
    const query = { tenant: '', id }
    expect((await ann.getTask(query)).id).toBe(id)
    await expect(ben.getTask(query)).rejects.toThrow()
    await ann.cancelTask({ ...query, metadata: {} })
    await until(
      () => isStopped,
      (isDone) => isDone,
    )
    expect(isStopped).toBe(true)
    const listed = await ann.listTasks({
      ...query,
      contextId: '',
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    })
    expect(listed.tasks.map((task) => [task.id, task.status?.state])).toEqual([[id, TaskState.TASK_STATE_CANCELED]])
  })

  it('gets an error instead of an endless stream', async () => {
    const endless = {
      name: 'endless',
      async *handler() {
        for (;;) yield 'x'.repeat(100_000)
      },
    }
    const { url } = await startAgent({ capabilities: [endless] })
    const client = await connect(url)
    const task = taskOf(await client.sendMessage(say(data({}))))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_REJECTED)
    expect(task.status?.message?.parts[0]?.content?.value).toMatch(/ask for the stream over HTTP/)
  })

  it('gets an error that says what is wrong with its input', async () => {
    const { url } = await startAgent()
    const client = await connect(url)
    const task = taskOf(await client.sendMessage(say(data({ text: 5 }))))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_REJECTED)
    expect(task.status?.message?.parts[0]?.content?.value).toBe('/text must be a string')
  })
})

describe('A2A 0.3', () => {
  const rpc = (url: string, method: string, params: object) =>
    post(`${url}/a2a`, { jsonrpc: '2.0', id: 1, method, params: { ...params } })
  const message = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'data', data: { text: 'hi' } }] }

  it('supports message/send, tasks/get and message/stream', async () => {
    const { url } = await startAgent()
    const { json } = await rpc(url, 'message/send', { message, configuration: { blocking: true } })
    expect(json.result).toMatchObject({ kind: 'task', status: { state: 'completed' } })
    expect(json.result.artifacts[0].parts[0].data).toEqual({ text: 'hi' })
    const again = await rpc(url, 'tasks/get', { id: json.result.id })
    expect(again.json.result.id).toBe(json.result.id)
    const stream = await rpc(url, 'message/stream', { message: { ...message, messageId: 'm2' } })
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    expect(stream.text).toContain('"artifact-update"')
  })

  it('AURI-9-04 AURI-9-07 reports errors as JSON-RPC errors', async () => {
    const { url } = await startAgent()
    const unknown = await rpc(url, 'message/sing', {})
    expect(unknown.json).toMatchObject({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: expect.any(String) } })
    const missing = await rpc(url, 'tasks/get', { id: 'nothing' })
    expect(missing.json.error.code).toBe(-32001)
  })
})

describe('the official client of A2A 0.3', () => {
  it('reaches an agent from its card, gets messages, streams and tasks', async () => {
    const slow = { ...echo, name: 'slow', handler: () => new Promise<never>(() => {}) }
    const { url } = await startAgent({ capabilities: [count, echo, slow] })
    const client = await new ClientFactory03().createFromUrl(url)
    const send = (skillId: string, data: Record<string, unknown>, blocking = true) => ({
      configuration: { blocking },
      message: {
        kind: 'message' as const,
        messageId: crypto.randomUUID(),
        role: 'user' as const,
        parts: [{ kind: 'data' as const, data }],
        metadata: { skillId },
      },
    })
    expect(await client.sendMessage(send('echo', { text: 'hi' }))).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ kind: 'data', data: { text: 'hi' } }] }],
    })
    const kinds = new Set<string>()
    for await (const event of client.sendMessageStream(send('echo', { text: 'hi' }))) kinds.add(event.kind)
    expect([...kinds]).toEqual(['task', 'status-update', 'artifact-update'])
    const task = await client.sendMessage(send('slow', { text: 'hi' }, false))
    if (task.kind !== 'task') throw new Error('expected a task, not a message')
    expect(await client.getTask({ id: task.id })).toMatchObject({ id: task.id, kind: 'task' })
    expect(await client.cancelTask({ id: task.id })).toMatchObject({ status: { state: 'canceled' } })
  })
})
