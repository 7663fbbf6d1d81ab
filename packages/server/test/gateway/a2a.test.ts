import type { RequestContext } from '@a2a-js/sdk/server'
import { eachPart } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentResponse, Gateway } from '../../src/gateway/gateway.js'
import {
  AgentEvent,
  artifactUpdate,
  DIALECTS,
  data,
  type Execute,
  message,
  raw,
  received,
  startA2aAgent,
  statusUpdate,
  TaskState,
  task,
  text,
  url,
} from './a2a-agent.js'
import { callOf, createTestGateway, gather } from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
  vi.restoreAllMocks()
})

// The SDK logs each error that it sends.
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

async function start(execute: Execute, options: Parameters<typeof startA2aAgent>[1] = {}) {
  const agent = await startA2aAgent(execute, options)
  const gateway: Gateway = createTestGateway()
  open.push(gateway, agent)
  return { agent, gateway }
}

const json = (answer: AgentResponse) => (answer.kind === 'json' ? answer.value : answer.kind)
const parts = (answer: AgentResponse) =>
  answer.kind === 'stream'
    ? gather(eachPart(answer.batches))
    : Promise.reject(new Error(`no stream but ${answer.kind}`))

/** Without a stream, a task that is running almost until the timeout becomes the response. */
const PATIENT = { timeoutMs: 30_000 }

describe.each(DIALECTS)('an A2A agent of $version over $binding', (dialect) => {
  it('AIDIP00-6-02 receives the input as a data part with the skill, and its data part is the response', async () => {
    let skill: unknown
    const { agent, gateway } = await start((context, publish) => {
      skill = context.userMessage.metadata?.skillId
      publish(AgentEvent.message(message([data({ got: received(context) })], context.contextId)))
    })
    const input = { text: 'hello', to: 'zh', n: 1 }
    const call = callOf(await agent.toEndpoint(dialect), { payload: { kind: 'json', value: input } })
    const answer = await gateway.call(call)
    expect(answer).toMatchObject({ kind: 'json', status: 200 })
    expect(json(answer)).toEqual({ got: [['data', input]] })
    expect(skill).toBe('echo')
  })

  it('receives a single text as a text part, and its texts are joined', async () => {
    const { agent, gateway } = await start((context, publish) => {
      publish(AgentEvent.message(message([text(JSON.stringify(received(context))), text('two')])))
    })
    const endpoint = await agent.toEndpoint(dialect)
    const answer = await gateway.call(callOf(endpoint, { payload: { kind: 'json', value: { query: 'hello' } } }))
    expect(json(answer)).toEqual({ text: '[["text","hello"]]\ntwo' })
  })

  it('receives bytes as a file, and its files keep their URI or their bytes', async () => {
    const { agent, gateway } = await start((context, publish) => {
      publish(
        AgentEvent.message(message([data({ got: received(context) }), url('https://a.example/a.png'), raw('abc')])),
      )
    })
    const payload = { kind: 'bytes' as const, contentType: 'text/plain', body: Buffer.from('hello') }
    const answer = await gateway.call(callOf(await agent.toEndpoint(dialect), { payload }))
    expect(json(answer)).toEqual({
      data: { got: [['raw', 'hello']] },
      files: [
        expect.objectContaining({ mimeType: 'image/png', uri: 'https://a.example/a.png' }),
        expect.objectContaining({ mimeType: 'text/plain', bytes: 'YWJj' }),
      ],
    })
  })

  it('responds with the artifacts of a completed task', async () => {
    const { agent, gateway } = await start(({ taskId, contextId }, publish) => {
      publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
      publish(AgentEvent.artifactUpdate(artifactUpdate(taskId, contextId, [data({ done: true })])))
      publish(AgentEvent.statusUpdate(statusUpdate(taskId, TaskState.TASK_STATE_COMPLETED, [text('ready')], contextId)))
    })
    const answer = await gateway.call(callOf(await agent.toEndpoint(dialect), PATIENT))
    expect(answer).toMatchObject({ kind: 'json', status: 200, value: { done: true } })
    expect(answer.headers['x-task-id']).toMatch(/\S/)
  })

  it('responds with a running task, which is polled until it has ended', async () => {
    let begun: RequestContext | undefined
    const { agent, gateway } = await start((context, publish) => {
      begun = context
      publish(AgentEvent.task(task(context.taskId, context.contextId, TaskState.TASK_STATE_WORKING)))
    })
    const call = callOf(await agent.toEndpoint(dialect))
    const answer = await gateway.call(call)
    if (answer.kind !== 'task' || !begun) throw new Error(`no task but ${JSON.stringify(answer)}`)
    expect(answer).toMatchObject({ status: 202, task: { status: 'working' } })
    expect(await gateway.poll(call, answer.task)).toMatchObject({ kind: 'task', status: 202, task: answer.task })
    const done = task(begun.taskId, begun.contextId, TaskState.TASK_STATE_COMPLETED, undefined, [data({ result: 42 })])
    await agent.store.save(done, begun.context)
    const ended = await gateway.poll(call, answer.task)
    expect(ended).toMatchObject({ kind: 'json', status: 200, value: { result: 42 } })
  })

  it('cancels its task on request', async () => {
    const cancelled: string[] = []
    const execute: Execute = ({ taskId, contextId }, publish) =>
      publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
    const { agent, gateway } = await start(execute, { onCancel: (id) => cancelled.push(id) })
    const call = callOf(await agent.toEndpoint(dialect))
    const answer = await gateway.call(call)
    if (answer.kind !== 'task') throw new Error('no task')
    await gateway.cancel(call, answer.task)
    expect(await gateway.poll(call, answer.task)).toMatchObject({
      status: 409,
      value: { error: { code: 'TaskCanceled' } },
    })
    // Cancelling a task that has ended is not an error.
    await expect(gateway.cancel(call, answer.task)).resolves.toBeUndefined()
  })

  it('can ask for more input, with the session and task to continue in', async () => {
    const { agent, gateway } = await start((context, publish) => {
      const { taskId, contextId } = context
      const isSecond = context.task !== undefined
      publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_SUBMITTED)))
      const [state, reply] = isSecond
        ? [TaskState.TASK_STATE_COMPLETED, 'in Chinese, then']
        : [TaskState.TASK_STATE_INPUT_REQUIRED, 'Which language?']
      publish(AgentEvent.statusUpdate(statusUpdate(taskId, state, [text(reply)], contextId)))
    })
    const endpoint = await agent.toEndpoint(dialect)
    const headers = { 'x-session-id': 's1' }
    const question = await gateway.call(callOf(endpoint, { ...PATIENT, headers }))
    expect(question).toMatchObject({
      status: 200,
      value: { status: 'input-required', message: { text: 'Which language?' }, sessionId: 's1' },
    })
    const next = { ...headers, 'x-task-id': question.headers['x-task-id'] ?? '' }
    expect(json(await gateway.call(callOf(endpoint, { ...PATIENT, headers: next })))).toEqual({
      text: 'in Chinese, then',
    })
  })

  it.each([
    [TaskState.TASK_STATE_FAILED, 500, 'TaskFailed'],
    [TaskState.TASK_STATE_REJECTED, 422, 'TaskRejected'],
  ])('AIDIP-5.2-13 has a task of state %i reported with status %i and the reason', async (state, status, code) => {
    const { agent, gateway } = await start(({ taskId, contextId }, publish) => {
      publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
      publish(AgentEvent.statusUpdate(statusUpdate(taskId, state, [text('no paper')], contextId)))
    })
    const answer = await gateway.call(callOf(await agent.toEndpoint(dialect), PATIENT))
    expect(answer).toMatchObject({ kind: 'json', status, value: { error: { code, message: 'no paper' } } })
  })

  it('has a protocol error reported with its status and name', async () => {
    const { agent, gateway } = await start(() => {})
    const call = callOf(await agent.toEndpoint(dialect))
    const answer = await gateway.poll(call, { id: 'nobody', status: 'working' })
    expect(answer).toMatchObject({ kind: 'json', status: 404, value: { error: { code: 'TaskNotFound' } } })
  })

  it('AIDIP-5.1-15 receives its own credential and the request id', async () => {
    const { agent, gateway } = await start((_, publish) => publish(AgentEvent.message(message([text('ok')]))))
    const endpoint = await agent.toEndpoint(dialect)
    await gateway.call(callOf(endpoint, { headers: { Authorization: 'Bearer for-the-agent', 'x-request-id': 'r1' } }))
    expect(agent.seen.at(-1)).toMatchObject({ authorization: 'Bearer for-the-agent', 'x-request-id': 'r1' })
    expect(agent.seen.at(-1)?.['a2a-version']).toBe(dialect.version === '1.0' ? '1.0' : undefined)
  })

  it('streams states as named events and results as they arrive', async () => {
    const { agent, gateway } = await start(({ taskId, contextId }, publish) => {
      publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_SUBMITTED)))
      publish(
        AgentEvent.statusUpdate(statusUpdate(taskId, TaskState.TASK_STATE_WORKING, [text('thinking')], contextId)),
      )
      publish(AgentEvent.artifactUpdate(artifactUpdate(taskId, contextId, [text('one')])))
      publish(AgentEvent.artifactUpdate(artifactUpdate(taskId, contextId, [data({ two: 2 })], true)))
      publish(AgentEvent.statusUpdate(statusUpdate(taskId, TaskState.TASK_STATE_COMPLETED, undefined, contextId)))
    })
    const answer = await gateway.call(callOf(await agent.toEndpoint(dialect), { wantsStream: true }))
    expect(await parts(answer)).toEqual([
      { event: 'status', data: expect.objectContaining({ status: 'submitted' }) },
      { event: 'status', data: expect.objectContaining({ status: 'working', message: { text: 'thinking' } }) },
      { data: { text: 'one' } },
      { data: { two: 2 } },
    ])
  })

  it('reports in the stream that the task failed after it started', async () => {
    const { agent, gateway } = await start(({ taskId, contextId }, publish) => {
      publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
      publish(AgentEvent.statusUpdate(statusUpdate(taskId, TaskState.TASK_STATE_FAILED, [text('no paper')], contextId)))
    })
    const answer = await gateway.call(callOf(await agent.toEndpoint(dialect), { wantsStream: true }))
    expect((await parts(answer)).at(-1)).toEqual({
      event: 'error',
      data: { error: { code: 'TaskFailed', message: 'no paper' } },
    })
  })

  it('AIDIP-5.3-02 responds in one piece if it does not stream', async () => {
    const execute: Execute = (_, publish) => publish(AgentEvent.message(message([text('whole')])))
    const { agent, gateway } = await start(execute, { streaming: false })
    const answer = await gateway.call(callOf(await agent.toEndpoint(dialect), { wantsStream: true }))
    expect(json(answer)).toEqual({ text: 'whole' })
  })

  it.each(['leaves the stream', 'goes away'])('has its task cancelled when the caller %s', async (how) => {
    const cancelled: string[] = []
    const execute: Execute = async ({ taskId, contextId }, publish) => {
      publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
      await vi.waitFor(() => expect(cancelled).toHaveLength(1), { timeout: 5000 })
    }
    const { agent, gateway } = await start(execute, { onCancel: (id) => cancelled.push(id) })
    const caller = new AbortController()
    const call = callOf(await agent.toEndpoint(dialect), { wantsStream: true, signal: caller.signal })
    const answer = await gateway.call(call)
    if (answer.kind !== 'stream') throw new Error('no stream')
    const reading = answer.batches[Symbol.asyncIterator]()
    await reading.next()
    if (how === 'goes away') caller.abort()
    else await reading.return?.()
    await vi.waitFor(() => expect(cancelled).toHaveLength(1))
    if (how === 'goes away') await expect(reading.next()).rejects.toMatchObject({ code: 'cancelled' })
  })
})
