import { DirectoryError, type JsonValue } from '@switchboard/protocol'
import type { AgentResponse, AgentTask } from '../../../gateway/gateway.js'
import { isAdmin } from '../../../policy/caller.js'
import { assertMayInvoke } from '../../../policy/invocation.js'
import type { NewTask, TaskRunner, TaskStep } from '../../tasks/tasks.js'
import type { PreparedCall } from '../admission/prepare-call.js'
import type { CallDeps } from '../call-deps.js'
import type { Invocation } from '../request/invocation.js'
import { CallFailed, isAtOwnLimit } from '../response/call-failed.js'
import type { InvocationResult } from '../response/invocation-result.js'
import { bytesToJson, type CompletedResult, toResult } from '../response/to-result.js'
import { agentTaskOf, cancelCall, pollCall, sendCall } from './send-call.js'
import { readStoredCall, writeStoredCall } from './stored-call.js'

/** Milliseconds; nobody is waiting for the response, and long work is what deferring is for. */
export const DEFERRED_TIMEOUT_MS = 600_000

/** Timeout for cancelling an agent's work, in milliseconds. */
const CANCEL_TIMEOUT_MS = 10_000

/** Stores a call to be sent later; the caller gets a task to poll (C-62). */
export const deferCall = (deps: CallDeps, invocation: Invocation, call: PreparedCall): Promise<InvocationResult> =>
  createTask(deps, invocation, { ...call, wantsStream: false })

/** Turns work that the agent itself has deferred into a task; if that fails, the agent's work is cancelled. */
export async function followTask(
  deps: CallDeps,
  invocation: Invocation,
  call: PreparedCall,
  agentTask: AgentTask,
): Promise<InvocationResult> {
  try {
    return await createTask(deps, invocation, call, { agentTask })
  } catch (error) {
    cancelInBackground(deps, call, agentTask)
    throw error
  }
}

/** Cancels an agent's work that is not needed; failures are ignored. */
export function cancelInBackground(deps: Pick<CallDeps, 'gateway'>, call: PreparedCall, task: AgentTask): void {
  const cancelling = { ...call, timeoutMs: CANCEL_TIMEOUT_MS, signal: new AbortController().signal }
  cancelCall(deps, cancelling, task).catch(() => {})
}

async function createTask(
  { tasks }: CallDeps,
  { callbackUrl, caller }: Invocation,
  call: PreparedCall,
  more: Pick<NewTask, 'agentTask'> = {},
): Promise<InvocationResult> {
  if (!tasks)
    throw new DirectoryError(
      'not_invocable',
      'the agent deferred the work, but this directory has no secret to store tasks: its operator must set SWITCHBOARD_SECRET',
    )
  const session = call.headers['x-session-id']
  const task = await tasks.create(
    {
      agent: call.agent,
      operation: call.operation.name,
      request: { ...writeStoredCall(call, more.agentTask !== undefined), isAdmin: isAdmin(caller) },
      idempotent: call.idempotent,
      ...(session !== undefined && { session }),
      ...(callbackUrl !== undefined && { callbackUrl }),
      ...more,
    },
    caller,
  )
  const headers = more.agentTask ? {} : { 'preference-applied': 'respond-async' }
  return { kind: 'task', status: 202, headers, task }
}

/** Sends deferred calls, also after a restart, with the agent and its credential as they are then. */
export function createTaskRunner(deps: CallDeps): TaskRunner {
  const { timeoutMs } = deps
  const runTimeoutMs = Math.max(timeoutMs, DEFERRED_TIMEOUT_MS)
  return {
    run: (request, signal) =>
      orLater(async () => {
        const call = await readStoredCall(deps, request, { timeoutMs: runTimeoutMs, signal })
        assertStillAllowed(deps, call, request.isAdmin === true)
        return toStep(deps, call, await sendCall(deps, { ...call, prefersTask: true }))
      }),
    poll: (request, task, signal) =>
      orLater(async () => {
        const call = await readStoredCall(deps, request, { timeoutMs, signal })
        return toStep(deps, call, await pollCall(deps, call, task))
      }),
    async cancel(request, task, signal) {
      const call = await readStoredCall(deps, request, { timeoutMs: CANCEL_TIMEOUT_MS, signal })
      await cancelCall(deps, call, task)
    },
  }
}

/** Checks the caller's rights when the call is sent: a grant may have been revoked since it was deferred. */
function assertStillAllowed({ context }: CallDeps, { agent, caller }: PreparedCall, asAdmin: boolean): void {
  const scopes = new Set([asAdmin ? 'admin' : 'invoke'])
  assertMayInvoke(agent, { subject: caller, kind: 'key', scopes, address: '', requestId: '' }, context.grantsOf)
}

async function toStep(deps: CallDeps, call: PreparedCall, response: AgentResponse): Promise<TaskStep> {
  if (response.kind === 'task') return { kind: 'working', task: agentTaskOf(response) }
  const result = await toResult(deps, call, response)
  return { kind: 'done', result: { status: result.status, body: await bodyOf(result) } }
}

/** Takes the step again later if the agent, or the token for it, is temporarily unavailable. */
async function orLater(step: () => Promise<TaskStep>): Promise<TaskStep> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof CallFailed) || error.mayHaveRun) throw error
    if (error.code !== 'unavailable' && !isAtOwnLimit(error)) throw error
    return { kind: 'later', retryAfter: error.retryAfter ?? 1 }
  }
}

async function bodyOf(result: CompletedResult): Promise<JsonValue> {
  if (result.kind === 'json') return result.value
  if (result.kind === 'stream') throw new DirectoryError('internal_error', 'a deferred call cannot be streamed')
  return bytesToJson(result)
}
