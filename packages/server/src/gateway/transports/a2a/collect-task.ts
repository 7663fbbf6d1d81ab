import { countValues } from '@switchboard/protocol'
import { GatewayError } from '../../gateway.js'
import { tooManyValues } from '../../http/read-stream.js'
import { tooLarge } from '../../http/response-body.js'
import type { ContentItem } from '../rpc/content.js'
import type { JsonResponseLimits } from '../rpc/send-json.js'
import type { A2aTask, Artifact } from './read-event.js'
import type { A2aReplies, A2aReply } from './send-action.js'
import { isFinal } from './to-response.js'

/** Milliseconds for the end of a stream whose last event has come. */
const END_MS = 1000

/**
 * Reads a stream for a caller who waits for the whole result, up to the event that ends the task. The result is the same
 * reply as without a stream: a message, or the task with its artifacts, which is still running if the stream ends before it.
 */
export async function collectTask(first: A2aReply, rest: A2aReplies, limits: JsonResponseLimits): Promise<A2aReply> {
  const artifacts = new Map<string, Artifact>()
  let count = createCounter(limits)
  let task: A2aTask | undefined
  for (let reply: A2aReply | undefined = first; reply; reply = (await rest.next()).value ?? undefined) {
    if (reply.kind === 'failure' || reply.event.kind === 'message') {
      readToEnd(rest)
      return reply
    }
    const { event } = reply
    if (event.kind === 'artifact') {
      const { artifactId, isAppended, items, taskId = '', contextId } = event
      count(items)
      const known = isAppended ? artifacts.get(artifactId) : undefined
      if (known) for (const item of items) known.items.push(item)
      else artifacts.set(artifactId, { artifactId, items })
      task ??= { taskId, ...(contextId && { contextId }), state: 'working', message: [], artifacts: [] }
      continue
    }
    // A task has all its artifacts, the update of a status has none.
    if (event.artifacts.length > 0) {
      artifacts.clear()
      count = createCounter(limits)
    }
    for (const artifact of event.artifacts) {
      count(artifact.items)
      artifacts.set(artifact.artifactId, artifact)
    }
    task = event
    if (isFinal(event)) {
      readToEnd(rest)
      break
    }
  }
  if (!task?.taskId) throw new GatewayError('bad_response', 'the stream of the agent has no task', { mayHaveRun: true })
  return { kind: 'event', event: { ...task, kind: 'task', artifacts: [...artifacts.values()] } }
}

/** Limits all artifacts together as the response without a stream is limited. */
function createCounter({ maxBytes, maxValues }: JsonResponseLimits): (items: readonly ContentItem[]) => void {
  let bytes = 0
  let values = 0
  return (items) => {
    for (const item of items) {
      const content = item.kind === 'text' ? item.text : item.kind === 'data' ? item.data : item.file
      bytes += typeof content === 'string' ? content.length : JSON.stringify(content).length
      values += countValues(content)
    }
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    if (values > maxValues) throw tooManyValues(maxValues)
  }
}

/** Usually the stream ends right after its last event, and then the connection can be used again. */
function readToEnd(rest: A2aReplies): void {
  const timer = setTimeout(rest.close, END_MS)
  timer.unref()
  const read = async (): Promise<void> => {
    while (!(await rest.next()).done);
  }
  read()
    .catch(() => {}) // closed, or of no interest any more
    .finally(() => clearTimeout(timer))
}
