import { Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'
import { asString, isObject, type JsonObject, type JsonValue, toMessagePart } from '@switchboard/protocol'
import { buildCall } from '../call/build-call.js'
import type { Performer } from '../call/perform.js'
import { withMetadata } from '../call/perform.js'
import { AgentError, problemOf, toAgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import type { Versions } from '../versions.js'
import { type A2aCaller, callerIn } from './caller.js'
import { inputOf, skillOf } from './read-message.js'

/** Characters of one task's parts. */
const MAX_OUTPUT = 1024 * 1024

export interface A2aExecutor extends AgentExecutor {
  /** Aborts all tasks. */
  close(): void
}

/** Runs A2A messages as calls: each message is a task, and the parts of the result are chunks of one artifact. */
export function createA2aExecutor(versions: Versions, performer: Performer, runtime: Runtime): A2aExecutor {
  const running = new Map<string, AbortController>()
  return {
    async execute(request, bus) {
      const controller = new AbortController()
      running.set(request.taskId, controller)
      const events = createEvents(request, bus, runtime)
      events.begin()
      try {
        const caller = callerIn(request.context)
        const call = await performer.admit(toCall(versions, request, caller, controller.signal))
        events.status('TASK_STATE_WORKING')
        const outcome = await performer.run(call)
        if (outcome.kind === 'value') events.part(withMetadata(outcome, call.call.capability.output), true)
        else await publishParts(outcome.parts, events)
        events.status('TASK_STATE_COMPLETED')
      } catch (error) {
        // For a cancelled task, cancelTask publishes the final status.
        if (!controller.signal.aborted) events.fail(toAgentError(error))
      } finally {
        running.delete(request.taskId)
        bus.finished()
      }
    },
    async cancelTask(taskId, bus) {
      running.get(taskId)?.abort()
      const status = { state: 'TASK_STATE_CANCELED', timestamp: new Date(runtime.now()).toISOString() }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: '', status })))
      bus.finished()
    },
    close() {
      for (const controller of running.values()) controller.abort()
    },
  }
}

/** Bounded, because the SDK stores everything that is published for readers that reconnect. */
async function publishParts(parts: AsyncIterable<JsonValue>, events: ReturnType<typeof createEvents>): Promise<void> {
  let size = 0
  for await (const part of parts) {
    size += JSON.stringify(part).length
    if (size > MAX_OUTPUT) {
      throw new AgentError('payload_too_large', `A2A carries ${MAX_OUTPUT} characters: ask for the stream over HTTP`)
    }
    events.part(part, false)
  }
}

function toCall(versions: Versions, request: RequestContext, from: A2aCaller, signal: AbortSignal) {
  const message = toObject(Message.toJSON(request.userMessage))
  const skill = skillOf(message, versions.latest.capabilities)
  return buildCall(versions, {
    capability: skill.name,
    input: inputOf(message, skill),
    caller: from.caller,
    base: from.base,
    requestId: from.requestId,
    versions: [from.version],
    // An A2A context is a session.
    sessionIds: [asString(message.contextId)],
    taskIds: [request.taskId],
    idempotencyKey: undefined,
    delegationChain: from.delegationChain,
    wantsStream: true,
    signal,
  })
}

const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** Publishes the events of one task. */
function createEvents(
  { taskId, contextId, task, userMessage }: RequestContext,
  bus: ExecutionEventBus,
  runtime: Runtime,
) {
  const ids = { taskId, contextId }
  const artifactId = runtime.newId()
  const now = (): string => new Date(runtime.now()).toISOString()
  let pieces = 0
  const status = (state: string, message?: JsonObject): void =>
    bus.publish(
      AgentEvent.statusUpdate(
        TaskStatusUpdateEvent.fromJSON({ ...ids, status: { state, timestamp: now(), ...(message && { message }) } }),
      ),
    )
  return {
    status,
    begin(): void {
      const history = [Message.toJSON(userMessage)]
      const fresh = { id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED', timestamp: now() }, history }
      bus.publish(AgentEvent.task(task ?? Task.fromJSON(fresh)))
    },
    part(value: JsonValue, isLast: boolean): void {
      const artifact = { artifactId, name: 'output', parts: [toMessagePart(value)] }
      const event = { ...ids, artifact, append: pieces > 0, lastChunk: isLast }
      pieces++
      bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON(event)))
    },
    fail(error: AgentError): void {
      const problem = problemOf(error, { instance: `/tasks/${taskId}`, requestId: taskId })
      const parts = [{ text: error.message }, toMessagePart(problem)]
      const message = { messageId: runtime.newId(), role: 'ROLE_AGENT', ...ids, parts }
      status(error.status < 500 ? 'TASK_STATE_REJECTED' : 'TASK_STATE_FAILED', message)
    },
  }
}
