import {
  isJsonType,
  type JsonValue,
  mediaTypeOf,
  readAcceptedTask,
  readPolledTask,
  readPollInterval,
} from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call, Reply } from '../call.js'
import { createDeadline, type Deadline } from '../deadline.js'
import { readProblem, toClientError } from '../problem.js'
import { readBody, readJsonBytes } from '../read-body.js'
import { exchange, type HttpDeps } from './exchange.js'
import { replyMetadata } from './read-reply.js'

/** Bounds of the poll interval, whatever the agent suggests. */
const MIN_POLL_MS = 200
const MAX_POLL_MS = 60_000
const DEFAULT_POLL_MS = 1000
/** Timeout of the cancellation, which the caller does not wait for. */
const CANCEL_MS = 5000

/**
 * Waits for the result of a deferred call (202): polls at the interval that the agent suggests, and cancels the task if
 * the caller aborts or the deadline passes (AURI §8, C-62).
 */
export async function awaitTask(
  deps: HttpDeps,
  call: Call,
  accepted: Response,
  headers: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<Reply> {
  const first = await readTaskBody(accepted, call, deadline)
  const header = (name: string): string | null => accepted.headers.get(name)
  const task = readAcceptedTask({ body: first, header, url: call.url }, otherOrigin)
  // Without a task to poll, "accepted" is the final response.
  if (task === undefined) return { output: first, contentType: 'application/json', ...replyMetadata(accepted, call) }
  const { id: taskId, url } = task
  deadline.extend(call.limits.waitMs)
  let response = accepted
  let body = first
  call.onTask?.(first)
  try {
    for (;;) {
      await deadline.race(deps.retry.sleep(pollDelay(response, body, deps.retry.now)))
      const poll = createDeadline(call.limits.timeoutMs, `polling the task of ${call.uri}`, deadline.signal)
      try {
        response = await exchange(deps, { method: 'GET', url, headers, isRepeatable: true }, poll)
        body = await readTaskBody(response, call, poll)
      } finally {
        poll.clear()
      }
      call.onTask?.(body)
      const output = resultOf(response.status, body, taskId)
      if (output === undefined) continue
      return { output, contentType: 'application/json', ...replyMetadata(response, call), taskId }
    }
  } catch (error) {
    if (deadline.signal.aborted) void cancel(deps, url, headers)
    throw error
  }
}

const otherOrigin = (): ClientError =>
  new ClientError('bad_response', 'Location of the task is not at the agent’s origin')

async function readTaskBody(response: Response, call: Call, deadline: Deadline): Promise<JsonValue> {
  const bytes = await readBody(response.body, call.limits.maxBytes, deadline)
  if (bytes.byteLength === 0) return null
  const type = mediaTypeOf(response.headers.get('content-type'))
  if (type !== '' && !isJsonType(type)) throw new ClientError('bad_response', `the task must be JSON, not ${type}`)
  return readJsonBytes(bytes, 'the task')
}

/** Milliseconds until the next poll, as the agent suggests within our bounds. */
function pollDelay({ headers }: Response, body: JsonValue, now: () => number): number {
  const seconds = readPollInterval({ body, header: (name) => headers.get(name) }, now)
  const ms = seconds === undefined ? DEFAULT_POLL_MS : seconds * 1000
  return Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS)
}

/** The result; undefined while the task is running. */
function resultOf(status: number, body: JsonValue, taskId: string): JsonValue | undefined {
  if (status === 202) return undefined
  const task = readPolledTask(body, taskId)
  if (task.outcome === 'failed') {
    const { status: state, document } = task
    throw toClientError(readProblem(document) ?? { message: `the task ended with status ${state}` }, {
      details: document,
    })
  }
  return task.outcome === 'running' ? undefined : task.result
}

async function cancel(deps: HttpDeps, url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const deadline = createDeadline(CANCEL_MS, 'cancelling the task')
  try {
    const response = await exchange(deps, { method: 'DELETE', url, headers, isRepeatable: false }, deadline)
    await response.body?.cancel()
  } catch {
    // Best effort: the caller has gone, and the agent has its own time limits.
  } finally {
    deadline.clear()
  }
}
