import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { ContentItem } from '../rpc/content.js'
import { badResponse } from '../rpc/send-json.js'

/** A result of an A2A agent, or one event of its stream; the same for both versions. */
export type A2aEvent =
  | ({ readonly kind: 'message'; readonly items: ContentItem[] } & Ids)
  /** `isAppended`: the items follow those that the artifact already has. */
  | ({ readonly kind: 'artifact'; readonly isAppended: boolean } & Artifact & Ids)
  | ({ readonly kind: 'task' | 'status' } & A2aTask)

interface Ids {
  readonly contextId?: string
  readonly taskId?: string
}

export interface Artifact {
  readonly artifactId: string
  readonly items: ContentItem[]
}

export interface A2aTask extends Ids {
  readonly taskId: string
  /** As spelled in 0.3: submitted, working, input-required, completed, canceled, failed, rejected, auth-required. */
  readonly state: string
  /** The message that comes with the state. */
  readonly message: ContentItem[]
  readonly artifacts: readonly Artifact[]
}

/** Reads a result of any version and binding; `wrapsData`: data is nested one level deeper (HTTP+JSON of 0.3). */
export function readEvent(result: JsonValue, wrapsData = false): A2aEvent {
  if (!isObject(result)) throw badResponse('its result is not an object')
  const { task, message = result.msg, statusUpdate, artifactUpdate } = result
  if (isObject(task)) return readTask('task', task, wrapsData)
  if (isObject(statusUpdate)) return readTask('status', statusUpdate, wrapsData)
  if (isObject(artifactUpdate)) return readArtifact(artifactUpdate, wrapsData)
  if (isObject(message)) return readMessage(message, wrapsData)
  switch (result.kind) {
    case 'message':
      return readMessage(result, wrapsData)
    case 'status-update':
      return readTask('status', result, wrapsData)
    case 'artifact-update':
      return readArtifact(result, wrapsData)
    default:
      return readTask('task', result, wrapsData)
  }
}

function readMessage(message: JsonObject, wrapsData: boolean): A2aEvent {
  return { kind: 'message', items: partsOf(message, wrapsData), ...idsOf(message) }
}

function readArtifact(update: JsonObject, wrapsData: boolean): A2aEvent {
  const artifact = artifactOf(isObject(update.artifact) ? update.artifact : {}, wrapsData)
  return { kind: 'artifact', ...artifact, isAppended: update.append === true, ...idsOf(update) }
}

const artifactOf = (artifact: JsonObject, wrapsData: boolean): Artifact => ({
  artifactId: asString(artifact.artifactId) ?? '',
  items: partsOf(artifact, wrapsData),
})

function idsOf(source: JsonObject): Ids {
  const contextId = asString(source.contextId)
  const taskId = asString(source.taskId)
  return { ...(contextId && { contextId }), ...(taskId && { taskId }) }
}

function readTask(kind: 'task' | 'status', task: JsonObject, wrapsData: boolean): A2aEvent {
  const taskId = asString(kind === 'task' ? task.id : task.taskId)
  const status = isObject(task.status) ? task.status : {}
  const state = asString(status.state)
  if (!taskId || !state) throw badResponse('its result is neither a message nor a task with an id and a state')
  const contextId = asString(task.contextId)
  const fromAgent = asObjects(task.history).filter(({ role }) => role === 'agent' || role === 'ROLE_AGENT')
  const last = isObject(status.message) ? status.message : fromAgent.at(-1)
  return {
    kind,
    taskId,
    ...(contextId && { contextId }),
    state: plainState(state),
    message: last ? partsOf(last, wrapsData) : [],
    artifacts: asObjects(task.artifacts).map((artifact) => artifactOf(artifact, wrapsData)),
  }
}

/** TASK_STATE_INPUT_REQUIRED → input-required; the protobuf of 0.3 spells "cancelled". */
function plainState(state: string): string {
  const plain = state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
  return plain === 'cancelled' ? 'canceled' : plain
}

function partsOf(holder: JsonObject, wrapsData: boolean): ContentItem[] {
  return asObjects(holder.parts ?? holder.content).flatMap((part) => readPart(part, wrapsData))
}

function readPart(part: JsonObject, wrapsData: boolean): ContentItem[] {
  if (typeof part.text === 'string') return [{ kind: 'text', text: part.text }]
  if (isObject(part.file)) return [{ kind: 'file', file: readFile(part.file) }]
  if (typeof part.url === 'string' || typeof part.raw === 'string') return [{ kind: 'file', file: readFile(part) }]
  if (part.data === undefined) return []
  const data = wrapsData && isObject(part.data) && part.data.data !== undefined ? part.data.data : part.data
  const isWrapped = isObject(part.metadata) && part.metadata.data_part_compat === true
  return [{ kind: 'data', data: isWrapped && isObject(data) && data.value !== undefined ? data.value : data }]
}

function readFile(file: JsonObject): JsonObject {
  const name = asString(file.name) || asString(file.filename)
  const mimeType = asString(file.mimeType) || asString(file.mediaType)
  const uri = asString(file.uri) ?? asString(file.fileWithUri) ?? asString(file.url)
  const bytes = asString(file.bytes) ?? asString(file.fileWithBytes) ?? asString(file.raw)
  return {
    ...(name && { name }),
    ...(mimeType && { mimeType }),
    ...(uri !== undefined ? { uri } : bytes !== undefined && { bytes }),
  }
}
