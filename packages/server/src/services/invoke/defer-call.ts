import { buffer } from 'node:stream/consumers'
import { DirectoryError, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentTask, Payload } from '../../gateway/call.js'
import type { Agent } from '../catalog.js'
import type { LearnOperations } from '../learn-operations.js'
import { unknownAgent } from '../register.js'
import type { TaskRunner, TaskStep, Tasks, TaskWish } from '../tasks.js'
import type { KeptCredential } from './agent-credential.js'
import { CallFailed } from './call-failed.js'
import { chooseOperation } from './choose-operation.js'
import type { Invocation, Invoked } from './invocation.js'
import type { ReadyCall } from './ready-call.js'
import { type CheckedAnswer, cancelCall, pollCall, type RunDeps, runCall } from './run-call.js'

export interface DeferDeps extends RunDeps {
  readonly tasks: Tasks | undefined
  readonly learnOperations: LearnOperations
  readonly keptCredential: (agent: Agent) => KeptCredential | undefined
  readonly timeoutMs: number
}

/** Milliseconds; nobody waits at the other end, and work that takes long is what deferring is for. */
export const DEFERRED_TIMEOUT_MS = 600_000

/** Puts a call off: the caller gets a task to ask for (C-62). */
export const deferCall = (deps: DeferDeps, invocation: Invocation, ready: ReadyCall): Promise<Invoked> =>
  accept(deps, invocation, ready)

/** Goes on with work that the agent itself has put off. */
export const followTask = (
  deps: DeferDeps,
  invocation: Invocation,
  ready: ReadyCall,
  agentTask: AgentTask,
): Promise<Invoked> => accept(deps, invocation, ready, { agentTask })

async function accept(
  { tasks }: DeferDeps,
  { callbackUrl, caller }: Invocation,
  ready: ReadyCall,
  more: Pick<TaskWish, 'agentTask'> = {},
): Promise<Invoked> {
  if (!tasks) throw new DirectoryError('not_invocable', 'the agent puts the work off, which cannot be followed here')
  const request = write(ready, more.agentTask !== undefined)
  const session = ready.headers['x-session-id']
  const task = await tasks.create(
    {
      agent: ready.target.agent,
      operation: ready.operation.name,
      request,
      repeatable: ready.repeatable,
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
    run: (request, signal) => toStep(async () => runCall(deps, await read(deps, request), { timeoutMs, signal })),
    poll: (request, task, signal) =>
      toStep(async () => pollCall(deps, await read(deps, request), task, { timeoutMs: deps.timeoutMs, signal })),
    cancel: async (request, task) => {
      const occasion = { timeoutMs: deps.timeoutMs, signal: new AbortController().signal }
      await cancelCall(deps, await read(deps, request), task, occasion)
    },
  }
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

/** Characters of an input that is kept: a caller may have a hundred of them. */
const LARGEST_INPUT = 1024 * 1024

/**
 * All that is needed to make the call later. Of the operator's credential nothing is kept here, and of an input that the
 * agent has already neither.
 */
function write(ready: ReadyCall, isTakenOn: boolean): JsonObject {
  const { target, operation, payload, headers, credential, caller, repeatable } = ready
  const { agent, version } = target
  const kept = isTakenOn ? {} : writePayload(payload)
  if (JSON.stringify(kept).length > LARGEST_INPUT)
    throw new DirectoryError(
      'payload_too_large',
      `an input of a deferred call has at most ${LARGEST_INPUT} characters: send larger data by URL, or do not defer`,
    )
  return {
    agent: agent.record.id,
    number: agent.number,
    operation: operation.name,
    ...(version.base !== undefined && { base: version.base }),
    payload: kept,
    headers: { ...headers },
    ...(!credential.isOurs && { credential: { ...credential.headers } }),
    caller,
    repeatable,
  }
}

const writePayload = (payload: Payload): JsonObject =>
  payload.kind === 'json'
    ? { value: payload.value }
    : {
        contentType: payload.contentType,
        base64: payload.body instanceof Uint8Array ? Buffer.from(payload.body).toString('base64') : '',
      }

async function read(deps: DeferDeps, request: JsonObject): Promise<ReadyCall> {
  const { agent: id, number, operation: name, base, payload, headers, credential: sent, caller, repeatable } = request
  const agent = deps.context.catalog.get(String(id))
  // Another one that has the name now is not the one that was asked.
  if (!agent || agent.number !== number) throw unknownAgent(String(id))
  const { record } = agent
  const credential = isObject(sent)
    ? { headers: textsOf(sent), isOurs: false }
    : { ...(deps.keptCredential(agent) ?? { headers: {} }), isOurs: true }
  const operations = await deps.learnOperations(agent, credential)
  const { operation } = chooseOperation(operations, String(name), {})
  const version = { version: undefined, base: typeof base === 'string' ? base : undefined }
  return {
    target: { agent, record, operations, version },
    operation,
    payload: readPayload(payload),
    headers: isObject(headers) ? textsOf(headers) : {},
    credential,
    caller: String(caller),
    repeatable: repeatable === true,
    wantsStream: false,
  }
}

function readPayload(payload: JsonValue | undefined): Payload {
  const { value = {}, contentType, base64 } = isObject(payload) ? payload : {}
  if (typeof contentType !== 'string') return { kind: 'json', value }
  return { kind: 'bytes', contentType, body: Buffer.from(String(base64), 'base64') }
}

const textsOf = (headers: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, String(text)]))
