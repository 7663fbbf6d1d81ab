import type { RequestContext } from '@a2a-js/sdk/server'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import {
  AgentEvent,
  artifactUpdate,
  data,
  type Execute,
  message,
  received,
  startA2aAgent,
  statusUpdate,
  TaskState,
  task,
  text,
} from './a2a-agent.js'

let directory: TestDirectory
let agent: Awaited<ReturnType<typeof startA2aAgent>>
let execute: Execute

beforeAll(async () => {
  directory = await startDirectory()
  agent = await startA2aAgent((context, publish) => execute(context, publish))
})
afterEach(() => directory.clear())
afterAll(async () => {
  await directory.close()
  await agent.close()
})

const echo: Execute = (context, publish) =>
  publish(AgentEvent.message(message([data({ got: received(context) })], context.contextId)))

const stepwise: Execute = ({ taskId, contextId }, publish) => {
  publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
  publish(AgentEvent.artifactUpdate(artifactUpdate(taskId, contextId, [text('one')])))
  publish(AgentEvent.statusUpdate(statusUpdate(taskId, TaskState.TASK_STATE_COMPLETED, undefined, contextId)))
}

async function register(version: string): Promise<void> {
  const card = { ...(await agent.cardOf(version)), id: 'a' }
  const { text: result } = await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify(card) })
  expect(result).toContain('"a"')
}

const invoke = (body: object, headers: Record<string, string> = {}) =>
  directory.post('/agents/a/invoke', { as: 'tokC', raw: JSON.stringify(body), headers })

describe.each(['0.3', '1.0'])('an agent registered with an A2A card of version %s', (version) => {
  it('AIDIP00-6-02 is invoked with plain JSON and responds with plain JSON', async () => {
    execute = echo
    await register(version)
    const answer = await invoke({ a: 1, b: [true] }, { 'x-request-id': 'r1' })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toEqual({ got: [['data', { a: 1, b: [true] }]] })
    expect(agent.seen.at(-1)).toMatchObject({ 'x-request-id': 'r1' })
    // The credential with which the caller authenticated to the directory is not forwarded.
    expect(agent.seen.at(-1)).not.toHaveProperty('authorization')
  })

  it('AIDIP-5.3-01 streams', async () => {
    execute = stepwise
    await register(version)
    const answer = await invoke({ a: 1 }, { accept: 'text/event-stream' })
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(answer.text).toContain('data: {"text":"one"}')
    expect(answer.text).toContain('"status":"working"')
  })

  it('AIDIP-5.3-04 receives the items of a batch one by one', async () => {
    execute = echo
    await register(version)
    const answer = await invoke([{ a: 1 }, { a: 2 }])
    expect(answer.json).toEqual([{ got: [['data', { a: 1 }]] }, { got: [['data', { a: 2 }]] }])
  })

  it('AURI-8-02 has its running task turned into a task of the directory', async () => {
    let begun: RequestContext | undefined
    execute = (context, publish) => {
      begun = context
      publish(AgentEvent.task(task(context.taskId, context.contextId, TaskState.TASK_STATE_WORKING)))
    }
    await register(version)
    const accepted = await invoke({ a: 1 })
    expect(accepted.status, accepted.text).toBe(202)
    if (!begun) throw new Error('the agent was not called')
    const done = task(begun.taskId, begun.contextId, TaskState.TASK_STATE_COMPLETED, undefined, [data({ late: true })])
    await agent.store.save(done, begun.context)
    const readTask = async () => (await directory.get(`/tasks/${accepted.json.taskId}`, { as: 'tokC' })).json
    await expect.poll(readTask, { timeout: 10_000 }).toMatchObject({ status: 'completed', result: { late: true } })
  })

  it('AIDIP-5.2-13 has its failed task reported as an error', async () => {
    execute = ({ taskId, contextId }, publish) => {
      publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
      publish(AgentEvent.statusUpdate(statusUpdate(taskId, TaskState.TASK_STATE_REJECTED, [text('no')], contextId)))
    }
    await register(version)
    const answer = await invoke({ a: 1 })
    expect(answer.status).toBe(422)
    expect(answer.json.error.message).toBe('no')
  })
})

it('AD-A-01 an agent registered with only its base URL is called as its card says', async () => {
  execute = echo
  const body = { base: agent.url, protocols: ['a2a'], capabilities: [{ name: 'echo', type: 'skill' }] }
  const registered = await directory.post('/ad/r?agent=a', { as: 'tokA', body })
  expect(registered.status, registered.text).toBe(201)
  const answer = await invoke({ a: 1 })
  expect(answer.json, answer.text).toEqual({ got: [['data', { a: 1 }]] })
})

it('C-44 calling an agent that speaks only A2A over gRPC returns 501 with the reason', async () => {
  const card = await agent.cardOf('1.0')
  const supportedInterfaces = [{ url: 'https://a.example:443', protocolBinding: 'GRPC', protocolVersion: '1.0' }]
  const raw = JSON.stringify({ ...card, id: 'a', supportedInterfaces })
  await directory.post('/admin/import', { as: 'admin', raw })
  const answer = await invoke({ a: 1 })
  expect(answer.status).toBe(501)
  expect(answer.json.error.code).toBe('NotInvocable')
})
