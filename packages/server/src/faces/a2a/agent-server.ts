import { buffer } from 'node:stream/consumers'
import {
  type AgentRecord,
  asObjects,
  asString,
  DirectoryError,
  eachPart,
  IMPLIED_OPERATION,
  inputOfMessage,
  invalid,
  isObject,
  type JsonObject,
  type PartBatches,
  skillOfMessage,
  toMessagePart,
} from '@switchboard/protocol'
import type { Invoke } from '../../services/calls/invoke.js'
import type { Invocation } from '../../services/calls/request/invocation.js'
import type { InvocationResult } from '../../services/calls/response/invocation-result.js'
import type { Task, TaskStatus, Tasks } from '../../services/tasks/tasks.js'
import type { InvocationHead } from '../invocation/read-invocation.js'
import type { A2aReply, A2aServer, A2aTask } from './a2a-server.js'

export interface AgentServerOptions {
  readonly invoke: Invoke
  /** Undefined: calls cannot be deferred. */
  readonly tasks: Tasks | undefined
  /** The agent as the caller sees it. */
  readonly record: AgentRecord
  /** What the headers say about the calls. */
  readonly head: InvocationHead
  readonly spend: Invocation['spend']
}

/** Answers A2A messages for an agent of this directory: a message is an invocation, with everything that is checked there. */
export function createAgentServer({ invoke, tasks, record, head, spend }: AgentServerOptions): A2aServer {
  const { caller } = head
  const ofAgent = (task: Task | undefined, id: string): A2aTask => {
    if (task?.agent !== record.id) throw unknownTask(id)
    return toA2aTask(task)
  }
  const read: A2aServer['read'] = async (id) => ofAgent(await tasks?.read(id, caller), id)
  return {
    read,
    async cancel(id) {
      await read(id)
      return ofAgent(await tasks?.cancel(id, caller), id)
    },
    async send(message, { streams, defers }, signal) {
      const earlier = asString(message.taskId)
      if (earlier) {
        await read(earlier)
        throw new DirectoryError('conflict', 'the task takes no further messages: send the message without taskId')
      }
      const { operation, input } = readMessage(message, record)
      // The request itself counts as a lookup, because it may be for a task.
      await spend(1)
      const context = asString(message.contextId)
      const result = await invoke({
        ...head,
        operation,
        input: { kind: 'json', value: input },
        session: { ...head.session, ...(context && { frame: context }) },
        chooseMediaType: (offered) =>
          offered.find((type) => type === (streams ? 'application/x-ndjson' : 'application/json')),
        defer: defers,
        spend,
        signal,
      })
      return toReply(result)
    },
  }
}

export const unknownTask = (id: string): DirectoryError => new DirectoryError('not_found', `there is no task "${id}"`)

/** The operation and the input of a message. The check of the input against its schema is part of the call. */
function readMessage(message: JsonObject, { operations }: AgentRecord) {
  if (asObjects(message.parts).some(({ raw, url }) => raw !== undefined || url !== undefined)) {
    const text = 'must not hold files: send them in the data part, as the schema of the operation says'
    throw invalid([{ at: '/message/parts', message: text }])
  }
  const named = skillOfMessage(message)
  const [only] = operations.length === 1 ? operations : []
  const known = named === undefined ? only : operations.find(({ name }) => name === named)
  const input = inputOfMessage(message, known?.inputs ?? {})
  if (input === undefined) {
    const text = 'must hold a data part with the input, or a text part'
    throw invalid([{ at: '/message/parts', message: text }])
  }
  // Cards list `invoke` as the skill of an agent that describes no operation.
  return { operation: named === IMPLIED_OPERATION && !known ? undefined : named, input }
}

async function toReply(result: InvocationResult): Promise<A2aReply> {
  switch (result.kind) {
    case 'json':
      // 204 has no output, and a message must have a part.
      return { kind: 'parts', parts: [toMessagePart(result.status === 204 ? '' : result.value)] }
    case 'bytes': {
      const raw = (await buffer(result.body)).toString('base64')
      return { kind: 'parts', parts: [{ raw, mediaType: result.contentType }] }
    }
    case 'stream':
      return { kind: 'stream', parts: toParts(result.batches) }
    case 'task':
      return { kind: 'task', task: toA2aTask(result.task) }
  }
}

async function* toParts(batches: PartBatches): AsyncGenerator<JsonObject> {
  for await (const { data } of eachPart(batches)) yield toMessagePart(data)
}

const STATES: Readonly<Record<TaskStatus, string>> = {
  pending: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
}

function toA2aTask({ id, status, pollInterval, document }: Task): A2aTask {
  const { result, error, sessionId, updatedAt = null } = document
  const contextId = asString(sessionId) ?? id
  const text = isObject(error) ? asString(error.message) : undefined
  const parts = error === undefined ? [] : [...(text === undefined ? [] : [{ text }]), toMessagePart(error)]
  return {
    isOpen: status === 'pending' || status === 'running',
    pollMs: pollInterval * 1000,
    document: {
      id,
      contextId,
      status: {
        state: STATES[status],
        timestamp: updatedAt,
        ...(parts.length > 0 && { message: { messageId: id, taskId: id, contextId, role: 'ROLE_AGENT', parts } }),
      },
      artifacts: result === undefined ? [] : [{ artifactId: 'output', name: 'output', parts: [toMessagePart(result)] }],
    },
  }
}
