import { buffer } from 'node:stream/consumers'
import { DirectoryError, type JsonValue } from '@switchboard/protocol'
import type { AgentTask } from '../../../gateway/gateway.js'
import { isAdmin } from '../../../policy/caller.js'
import { assertMayInvoke } from '../../../policy/invocation.js'
import type { TaskRunner, TaskStep, Tasks, TaskWish } from '../../tasks/tasks.js'
import { type RequestDeps, readRequest, writeRequest } from '../request/deferred-request.js'
import type { Invocation, Invoked } from '../request/invocation.js'
import type { ReadyCall } from '../request/ready-call.js'
import { CallFailed } from '../response/call-failed.js'
import { type CheckedAnswer, cancelCall, pollCall, type RunDeps, runCall } from './run-call.js'

export interface DeferDeps extends RunDeps, RequestDeps {
  readonly tasks: Tasks | undefined
  readonly timeoutMs: number
}

/** Milliseconds; nobody waits at the other end, and work that takes long is what deferring is for. */
export const DEFERRED_TIMEOUT_MS = 600_000

/** Milliseconds to tell an agent that its work is not wanted. */
const CALL_OFF_MS = 10_000

/** Puts a call off: the caller gets a task to ask for (C-62). */
export const deferCall = (deps: DeferDeps, invocation: Invocation, ready: ReadyCall): Promise<Invoked> =>
  accept(deps, invocation, ready)

/** Goes on with work that the agent itself has put off; what cannot be followed is called off. */
export async function followTask(
  deps: DeferDeps,
  invocation: Invocation,
  ready: ReadyCall,
  agentTask: AgentTask,
): Promise<Invoked> {
  try {
    return await accept(deps, invocation, ready, { agentTask })
  } catch (error) {
    callOff(deps, ready, agentTask)
    throw error
  }
}

/** Tells an agent that nobody will ask for its work; whether it hears of it changes nothing here. */
export function callOff(deps: RunDeps, ready: ReadyCall, task: AgentTask): void {
  const occasion = { timeoutMs: CALL_OFF_MS, signal: new AbortController().signal }
  cancelCall(deps, ready, task, occasion).catch(() => {})
}

async function accept(
  { tasks }: DeferDeps,
  { callbackUrl, caller }: Invocation,
  ready: ReadyCall,
  more: Pick<TaskWish, 'agentTask'> = {},
): Promise<Invoked> {
  if (!tasks) throw new DirectoryError('not_invocable', 'the agent puts the work off, which cannot be followed here')
  const request = { ...writeRequest(ready, more.agentTask !== undefined), isAdmin: isAdmin(caller) }
  const session = ready.headers['x-session-id']
  const task = await tasks.create(
    {
      agent: ready.target.agent,
      operation: ready.operation.name,
      request,
      idempotent: ready.idempotent,
      ...(session !== undefined && { session }),
      ...(callbackUrl !== undefined && { callbackUrl }),
      ...more,
    },
    caller,
  )
  const headers = more.agentTask ? {} : { 'preference-applied': 'respond-async' }
  return { kind: 'task', status: 202, headers, task }
}

/** Makes calls that were put off, after a restart too: with the agent and its credential as they are then. */
export function createTaskRunner(deps: DeferDeps): TaskRunner {
  const timeoutMs = Math.max(deps.timeoutMs, DEFERRED_TIMEOUT_MS)
  return {
    run: (request, signal) =>
      toStep(async () => {
        const ready = await readRequest(deps, request)
        assertStillMay(deps, ready, request.isAdmin === true)
        return runCall(deps, ready, { timeoutMs, signal })
      }),
    poll: (request, task, signal) =>
      toStep(async () => pollCall(deps, await readRequest(deps, request), task, { timeoutMs: deps.timeoutMs, signal })),
    cancel: async (request, task) => {
      const occasion = { timeoutMs: deps.timeoutMs, signal: new AbortController().signal }
      await cancelCall(deps, await readRequest(deps, request), task, occasion)
    },
  }
}

/** A call that waited for its turn is made with the rights of then: a grant may have been withdrawn meanwhile. */
function assertStillMay({ context }: DeferDeps, { target, caller }: ReadyCall, asAdmin: boolean): void {
  const scopes = new Set([asAdmin ? 'admin' : 'invoke'])
  assertMayInvoke(target.agent, { subject: caller, kind: 'key', scopes, address: '', requestId: '' }, context.grantsOf)
}

async function toStep(ask: () => Promise<CheckedAnswer>): Promise<TaskStep> {
  try {
    const answer = await ask()
    if (answer.kind === 'task') return { kind: 'working', task: answer.task }
    return { kind: 'done', answer: { status: answer.status, body: await toBody(answer) } }
  } catch (error) {
    if (!(error instanceof CallFailed) || error.code !== 'unavailable' || error.mayHaveRun) throw error
    return { kind: 'later', retryAfter: error.retryAfter ?? 1 }
  }
}

async function toBody(answer: Exclude<CheckedAnswer, { kind: 'task' }>): Promise<JsonValue> {
  if (answer.kind === 'json') return answer.value
  if (answer.kind === 'stream') throw new DirectoryError('internal_error', 'a deferred call is not streamed')
  const data = (await buffer(answer.body)).toString('base64')
  return { contentType: answer.contentType, contentEncoding: 'base64', data }
}
