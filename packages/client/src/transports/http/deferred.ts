import {
  asString,
  isJsonType,
  isObject,
  type JsonObject,
  type JsonValue,
  mediaTypeOf,
  readRetryAfter,
} from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call, Reply } from '../call.js'
import { createDeadline, type Deadline } from '../deadline.js'
import { readProblem, toClientError } from '../problem.js'
import { readBody, readJsonBytes } from '../read-body.js'
import { exchange, type HttpDeps } from './exchange.js'
import { factsOf } from './read-reply.js'

/** Milliseconds between two questions: not more often, whatever the agent hints, and not less often either. */
const MIN_POLL_MS = 200
const MAX_POLL_MS = 60_000
const DEFAULT_POLL_MS = 1000
/** Milliseconds that the word "stop" may take; nobody waits for it. */
const CANCEL_MS = 5000

const DONE = new Set(['completed', 'complete', 'succeeded', 'success', 'done', 'finished'])
const FAILED = new Set(['failed', 'error', 'cancelled', 'canceled', 'rejected', 'expired', 'interrupted'])

/**
 * Waits for work that the agent took on (202): asks for it in the rhythm that the agent hints, gives its result, and
 * tells the agent to stop if the caller gives up or has waited long enough (AURI §8, C-62).
 */
export async function awaitTask(
  deps: HttpDeps,
  call: Call,
  accepted: Response,
  headers: Readonly<Record<string, string>>,
  deadline: Deadline,
): Promise<Reply> {
  const first = await readTaskBody(accepted, call, deadline)
  const taskId = isObject(first) ? asString(first.taskId) : undefined
  const url = taskUrl(call.url, accepted.headers.get('location'), taskId)
  // An agent that says no more than "accepted" has answered.
  if (url === undefined) return { output: first, contentType: 'application/json', ...factsOf(accepted, call) }
  deadline.extend(call.limits.waitMs)
  let response = accepted
  let body = first
  try {
    for (;;) {
      await deadline.race(deps.retry.sleep(pollWait(response, body, deps.retry.now)))
      const poll = createDeadline(call.limits.timeoutMs, `asking for the task of ${call.uri}`, deadline.signal)
      try {
        response = await exchange(deps, { method: 'GET', url, headers, isRepeatable: true }, poll)
        body = await readTaskBody(response, call, poll)
      } finally {
        poll.clear()
      }
      const output = outcomeOf(response.status, body)
      if (output === undefined) continue
      return {
        output,
        contentType: 'application/json',
        ...factsOf(response, call),
        ...(taskId !== undefined && { taskId }),
      }
    }
  } catch (error) {
    if (deadline.signal.aborted) void cancel(deps, url, headers)
    throw error
  }
}

/** Where to ask: Location, else the draft's own path (AURI §8.1.1). Another origin gets neither questions nor keys. */
function taskUrl(callUrl: string, location: string | null, taskId: string | undefined): string | undefined {
  const target = location ?? (taskId === undefined ? undefined : `/tasks/${encodeURIComponent(taskId)}`)
  if (target === undefined) return undefined
  const url = URL.canParse(target, callUrl) ? new URL(target, callUrl) : undefined
  if (url?.origin !== new URL(callUrl).origin) {
    throw new ClientError('bad_response', 'the task is to be asked for at another origin than the agent’s')
  }
  return url.href
}

async function readTaskBody(response: Response, call: Call, deadline: Deadline): Promise<JsonValue> {
  const bytes = await readBody(response.body, call.limits.maxBytes, deadline)
  if (bytes.byteLength === 0) return null
  const type = mediaTypeOf(response.headers.get('content-type'))
  if (type !== '' && !isJsonType(type)) throw new ClientError('bad_response', `a task must be JSON, not ${type}`)
  return readJsonBytes(bytes, 'the task')
}

/** Milliseconds until the next question: Retry-After, else the interval in the body, both in seconds. */
function pollWait({ headers }: Response, body: JsonValue, now: () => number): number {
  const hint = isObject(body) && typeof body.pollInterval === 'number' ? body.pollInterval : undefined
  const seconds = readRetryAfter(headers.get('retry-after'), now) ?? hint
  const ms = seconds === undefined ? DEFAULT_POLL_MS : seconds * 1000
  return Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS)
}

/** The result; undefined while the work goes on. */
function outcomeOf(status: number, body: JsonValue): JsonValue | undefined {
  if (status === 202) return undefined
  const task = asTask(body)
  if (task === undefined) return body
  const state = String(task.status).toLowerCase()
  if (FAILED.has(state))
    throw toClientError(readProblem(task) ?? { message: `the task ended as ${state}` }, { details: task })
  if (!DONE.has(state)) return undefined
  return task.result ?? task.output ?? null
}

/** A document about the work; anything else is what came of it. */
function asTask(body: JsonValue): JsonObject | undefined {
  return isObject(body) && typeof body.taskId === 'string' && typeof body.status === 'string' ? body : undefined
}

async function cancel(deps: HttpDeps, url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const deadline = createDeadline(CANCEL_MS, 'stopping the task')
  try {
    const response = await exchange(deps, { method: 'DELETE', url, headers, isRepeatable: false }, deadline)
    await response.body?.cancel()
  } catch {
    // The caller has left already; an agent that cannot be told runs into its own limits.
  } finally {
    deadline.clear()
  }
}
