import { setTimeout } from 'node:timers/promises'
import { A2A_VERSION_HEADER, AgentCard, Message, StreamResponse, Task } from '@a2a-js/sdk'
import { isLegacyJsonRpcMethod } from '@a2a-js/sdk/compat/v0_3'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import {
  A2AError,
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors'
import { JsonRpcTransportHandler, ServerCallContext, UnauthenticatedUser } from '@a2a-js/sdk/server'
import { asString, DirectoryError, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { A2aServer, A2aTask } from './a2a-server.js'
import type { StreamedTasks } from './streamed-tasks.js'

/** One JSON-RPC message to the directory as an A2A server. */
export interface A2aRequest {
  readonly server: A2aServer
  readonly body: JsonObject
  /** The header A2A-Version. */
  readonly version: string | undefined
  /** Distinguishes callers and agents: tasks of streams are seen by the same owner only. */
  readonly owner: string
  readonly streamed: StreamedTasks
  readonly newId: () => string
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal
}

/** The JSON of the response, or its events. */
export type A2aAnswer = JsonObject | AsyncIterable<JsonObject>

type RequestHandler = ConstructorParameters<typeof JsonRpcTransportHandler>[0]

/** Errors about the request as a whole, which have a status of HTTP in A2A too. */
const HTTP_ERRORS = new Set(['unauthorized', 'forbidden', 'quota_exceeded', 'rate_limited'])
/** Milliseconds for which a task is watched for a caller that waits. */
const MAX_WATCH_MS = 600_000
/** Characters of a streamed answer that are kept for reading its task again. */
const MAX_KEPT = 256 * 1024

/**
 * Answers a message with the SDK, in the version of its method. Throws what has to be an HTTP error; an error of the
 * first event of a stream is thrown or returned before the stream begins.
 */
export async function answerA2a(request: A2aRequest): Promise<A2aAnswer> {
  const { body, version } = request
  const isLegacy = isLegacyJsonRpcMethod(body.method)
  const failures: unknown[] = []
  const handler = createHandler(request, (error) => failures.push(error))
  const transport = new (isLegacy ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler)(handler)
  const toError = (error: unknown): JsonObject => ({
    jsonrpc: '2.0',
    id: body.id ?? null,
    error: toJson(
      isLegacy
        ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
        : JsonRpcTransportHandler.mapToJSONRPCError(error),
    ),
  })
  if (version !== undefined && !/^(0\.3|1\.0)(\.|$)/.test(version))
    return toError(new VersionNotSupportedError(`${A2A_VERSION_HEADER} must be 1.0 or 0.3`))
  const context = new ServerCallContext({ user: new UnauthenticatedUser(), requestedVersion: isLegacy ? '0.3' : '1.0' })
  const answer: unknown = await transport.handle(body, context)
  if (failures.length > 0) throw failures[0]
  if (!isIterable(answer)) return toJson(answer)
  const events = answer[Symbol.asyncIterator]()
  try {
    const first = await events.next()
    return rest(first, events, toError)
  } catch (error) {
    if (failures.length > 0) throw failures[0]
    return toError(error)
  }
}

/** The event that has been read, and those after it; a failure is the last one. */
async function* rest(
  first: IteratorResult<unknown>,
  events: AsyncIterator<unknown>,
  toError: (error: unknown) => JsonObject,
): AsyncGenerator<JsonObject> {
  try {
    for (let event = first; !event.done; event = await events.next()) yield toJson(event.value)
  } catch (error) {
    yield toError(error)
  } finally {
    await events.return?.()
  }
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** The SDK's values contain members that are undefined. */
function toJson(value: unknown): JsonObject {
  const json: JsonValue = JSON.parse(JSON.stringify(value))
  return isObject(json) ? json : {}
}

/** The SDK's handler over our server. `onFailure` gets the errors that are not to be written as JSON-RPC. */
function createHandler(request: A2aRequest, onFailure: (error: unknown) => void): RequestHandler {
  const { server, streamed, owner, newId, signal } = request
  const translated = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof A2AError) throw error
      if (!(error instanceof DirectoryError) || HTTP_ERRORS.has(error.code)) onFailure(error)
      throw toA2aError(error)
    }
  }
  const streamedTask = (id: string): JsonObject | undefined => streamed.get(id, owner)?.document
  const watch = (task: A2aTask): AsyncGenerator<A2aTask> => watchTask(task, server, signal)

  return {
    getAgentCard: async () => AgentCard.fromJSON({ capabilities: { streaming: true } }),
    getAuthenticatedExtendedAgentCard: unsupported(ExtendedAgentCardNotConfiguredError),
    createTaskPushNotificationConfig: unsupported(PushNotificationNotSupportedError),
    getTaskPushNotificationConfig: unsupported(PushNotificationNotSupportedError),
    listTaskPushNotificationConfigs: unsupported(PushNotificationNotSupportedError),
    deleteTaskPushNotificationConfig: unsupported(PushNotificationNotSupportedError),
    listTasks: unsupported(UnsupportedOperationError),
    sendMessage: ({ message, configuration }) =>
      translated(async () => {
        const sent = readMessage(message, configuration)
        const defers = configuration?.returnImmediately === true
        const reply = await server.send(sent, { streams: false, defers }, signal)
        if (reply.kind === 'task') {
          let { task } = reply
          if (!defers) for await (const later of watch(task)) task = later
          return Task.fromJSON(task.document)
        }
        const parts: JsonObject[] = []
        for await (const part of reply.parts) parts.push(part)
        return Message.fromJSON(toMessage(newId(), sent, parts))
      }),
    async *sendMessageStream({ message, configuration }) {
      const controller = new AbortController()
      const stop = AbortSignal.any([signal, controller.signal])
      const sent = await translated(async () => readMessage(message, configuration))
      const reply = await translated(() => server.send(sent, { streams: true, defers: false }, stop))
      const events =
        reply.kind === 'parts'
          ? once({ message: toMessage(newId(), sent, reply.parts) })
          : reply.kind === 'task'
            ? taskEvents(reply.task, watch)
            : streamEvents(request, sent, reply.parts, controller)
      for await (const event of events) yield StreamResponse.fromJSON(event)
    },
    getTask: ({ id }) =>
      translated(async () => Task.fromJSON(streamedTask(id) ?? (await server.read(id).catch(notFound)).document)),
    cancelTask: ({ id }) =>
      translated(async () => {
        const running = streamed.get(id, owner)
        if (!running) return Task.fromJSON((await server.cancel(id).catch(notFound)).document)
        running.cancel?.()
        return Task.fromJSON(running.document)
      }),
    async *resubscribe({ id }) {
      if (streamedTask(id)) throw new UnsupportedOperationError('a stream cannot be continued: read the task instead')
      const task = await translated(() => server.read(id).catch(notFound))
      for await (const event of taskEvents(task, watch)) yield StreamResponse.fromJSON(event)
    },
  }
}

const unsupported =
  (Reason: new () => A2AError): (() => Promise<never>) =>
  () =>
    Promise.reject(new Reason())

/** The message as JSON, if it can be answered. */
function readMessage(
  message: Message | undefined,
  configuration: { readonly taskPushNotificationConfig: unknown } | undefined,
): JsonObject {
  if (!message) throw new RequestMalformedError('message is required')
  if (configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError()
  return toJson(Message.toJSON(message))
}

/** A task that the caller does not have has an error of its own in A2A. */
function notFound(error: unknown): never {
  if (error instanceof DirectoryError && error.code === 'not_found') throw new TaskNotFoundError(error.message)
  throw error
}

function toA2aError(error: unknown): A2AError {
  if (!(error instanceof DirectoryError)) return new A2AError('the directory failed')
  const { code, message, status } = error
  const details = { message, metadata: { code }, cause: error }
  if (code === 'conflict') return new UnsupportedOperationError(details)
  if (code === 'unsupported_media_type' || code === 'not_acceptable') return new ContentTypeNotSupportedError(details)
  return status < 500 ? new RequestMalformedError(details) : new A2AError(details)
}

const toMessage = (messageId: string, to: JsonObject, parts: readonly JsonObject[]): JsonObject => ({
  messageId,
  role: 'ROLE_AGENT',
  contextId: to.contextId ?? '',
  parts: [...parts],
})

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value
}

/** The task whenever it may have changed, until it has ended. */
async function* watchTask(task: A2aTask, server: A2aServer, signal: AbortSignal): AsyncGenerator<A2aTask> {
  const limit = performance.now() + MAX_WATCH_MS
  let current = task
  while (current.isOpen && performance.now() < limit) {
    await setTimeout(current.pollMs, undefined, { signal })
    current = await server.read(String(task.document.id))
    yield current
  }
}

/** A deferred call as events: the task, its states, and its output at the end. */
async function* taskEvents(
  task: A2aTask,
  watch: (task: A2aTask) => AsyncIterable<A2aTask>,
): AsyncGenerator<JsonObject> {
  yield { task: task.document }
  const { id, contextId } = task.document
  const ids = { taskId: id ?? '', contextId: contextId ?? '' }
  let shown = JSON.stringify(task.document.status)
  for await (const { document } of watch(task)) {
    const status = document.status ?? {}
    if (JSON.stringify(status) === shown) continue
    shown = JSON.stringify(status)
    for (const artifact of Array.isArray(document.artifacts) ? document.artifacts : [])
      yield { artifactUpdate: { ...ids, artifact, lastChunk: true } }
    yield { statusUpdate: { ...ids, status } }
  }
}

/** A streamed answer as events: a task whose parts arrive as chunks of one artifact. */
async function* streamEvents(
  { streamed, owner, newId, signal }: A2aRequest,
  sent: JsonObject,
  parts: AsyncIterable<JsonObject>,
  controller: AbortController,
): AsyncGenerator<JsonObject> {
  const id = newId()
  const ids = { taskId: id, contextId: asString(sent.contextId) || id }
  const kept: JsonObject[] = []
  let size = 0
  const task = {
    owner,
    document: {},
    cancel: () => {
      controller.abort()
      become('TASK_STATE_CANCELED')
    },
  }
  const become = (state: string, message?: JsonObject): JsonObject => {
    const status = { state, timestamp: new Date().toISOString(), ...(message && { message }) }
    const artifacts =
      size > MAX_KEPT || kept.length === 0 ? [] : [{ artifactId: 'output', name: 'output', parts: kept }]
    task.document = { id, contextId: ids.contextId, status, artifacts }
    return { statusUpdate: { ...ids, status } }
  }
  become('TASK_STATE_WORKING')
  streamed.add(id, task)
  try {
    yield { task: task.document }
    let count = 0
    for await (const part of parts) {
      size += JSON.stringify(part).length
      if (size <= MAX_KEPT) kept.push(part)
      const artifact = { artifactId: 'output', name: 'output', parts: [part] }
      yield { artifactUpdate: { ...ids, artifact, append: count++ > 0 } }
    }
    yield become('TASK_STATE_COMPLETED')
  } catch (error) {
    if (signal.aborted) become('TASK_STATE_CANCELED')
    else if (controller.signal.aborted) yield become('TASK_STATE_CANCELED')
    else {
      const text = error instanceof DirectoryError ? error.message : 'the directory failed'
      const message = { ...toMessage(newId(), ids, [{ text }]), taskId: id }
      yield become('TASK_STATE_FAILED', message)
    }
  } finally {
    streamed.end(id)
  }
}
