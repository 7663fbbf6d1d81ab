import { asString, isObject, type JsonObject, type JsonValue } from '../json.js'
import { readRetryAfter } from './headers.js'

/** A response with status 202. */
export interface AcceptedResponse {
  readonly body: JsonValue
  /** Reads a header by its lower-case name. */
  readonly header: ReadHeader
  /** The URL that was called or polled. */
  readonly url: string
}

export type ReadHeader = (name: string) => string | null | undefined

/** A task that an agent has accepted and will finish later. */
export interface AcceptedTask {
  readonly id: string
  /** As the agent spells it; `running` if it does not say. */
  readonly status: string
  /** Where to poll it; at the origin of the agent. */
  readonly url: string
}

/**
 * Reads the task of a 202 (AURI §8, C-62). Its URL is the `Location`, else `/tasks/{id}` (AURI §8.1.1). Undefined if the
 * response names no task.
 *
 * @param otherOrigin the error for a URL at another origin: polls carry the credentials of the agent
 */
export function readAcceptedTask(
  { body, header, url: called }: AcceptedResponse,
  otherOrigin: () => Error,
): AcceptedTask | undefined {
  const members = isObject(body) ? body : {}
  const id = idIn(members.taskId) ?? idIn(members.task_id) ?? idIn(members.id) ?? taskIdOfHeaders(header)
  if (id === undefined) return undefined
  const url = locationOf(header, called) ?? new URL(`/tasks/${encodeURIComponent(id)}`, called)
  if (url.origin !== new URL(called).origin) throw otherOrigin()
  return { id, status: asString(members.status) ?? 'running', url: url.href }
}

/** The task id in the headers of a 202: the last segment of `Location`, else `X-Task-ID`. */
export function taskIdOfHeaders(header: ReadHeader): string | undefined {
  const location = locationOf(header, 'http://localhost/')
  return (location && lastSegment(location)) ?? idIn(header('x-task-id'))
}

/** Seconds until the next poll that a response suggests: `Retry-After`, else `pollInterval` (AURI §8). */
export function readPollInterval(
  { body, header }: Pick<AcceptedResponse, 'body' | 'header'>,
  now: () => number,
): number | undefined {
  const interval = isObject(body) ? body.pollInterval : undefined
  const hint = typeof interval === 'number' && interval >= 0 ? interval : undefined
  return readRetryAfter(header('retry-after'), now) ?? hint
}

/** How far a running task is. */
export interface TaskProgress {
  /** From 0 to 1. */
  readonly fraction: number
  /** What is being done, in plain words. */
  readonly message?: string
}

/** Characters of a message about progress. */
const MAX_PROGRESS_MESSAGE = 200

/** The `progress` of a task document, within bounds; undefined if it has none. */
export function readProgress(body: JsonValue): TaskProgress | undefined {
  const progress = isObject(body) ? body.progress : undefined
  if (!isObject(progress) || typeof progress.fraction !== 'number' || Number.isNaN(progress.fraction)) return undefined
  return toProgress(progress.fraction, asString(progress.message))
}

/** Progress within bounds. */
export const toProgress = (fraction: number, message?: string): TaskProgress => ({
  fraction: Math.min(1, Math.max(0, fraction)),
  ...(message && { message: message.slice(0, MAX_PROGRESS_MESSAGE) }),
})

const SUCCEEDED: ReadonlySet<string> = new Set(['completed', 'complete', 'succeeded', 'success', 'done', 'finished'])
const FAILED: ReadonlySet<string> = new Set([
  'failed',
  'error',
  'cancelled',
  'canceled',
  'rejected',
  'expired',
  'interrupted',
])

/** Whether a task with this status has ended, and how; agents spell statuses differently. */
function taskOutcome(status: string): 'succeeded' | 'failed' | 'running' {
  const state = status.toLowerCase()
  return SUCCEEDED.has(state) ? 'succeeded' : FAILED.has(state) ? 'failed' : 'running'
}

/** What a poll of a task says. */
export type PolledTask =
  | { readonly outcome: 'running' }
  | { readonly outcome: 'succeeded'; readonly result: JsonValue }
  /** `document` has the reason, if the agent gives one. */
  | { readonly outcome: 'failed'; readonly status: string; readonly document: JsonObject }

/**
 * Reads the body of a poll with a 2xx status other than 202. A task document has a status and the task's id; any
 * other body is the result itself, even one with an `id` and a `status` of its own.
 */
export function readPolledTask(body: JsonValue, taskId: string): PolledTask {
  const status = isObject(body) ? asString(body.status) : undefined
  if (!isObject(body) || status === undefined || !namesTask(body, taskId)) return { outcome: 'succeeded', result: body }
  const outcome = taskOutcome(status)
  if (outcome === 'running') return { outcome }
  if (outcome === 'failed') return { outcome, status, document: body }
  return { outcome, result: body.result !== undefined ? body.result : (body.output ?? body) }
}

const namesTask = ({ taskId, task_id: snakeCased, id }: JsonObject, expected: string): boolean =>
  idIn(taskId) !== undefined || idIn(snakeCased) !== undefined || id === expected

const idIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The `Location`, if it names something below the root. */
function locationOf(header: ReadHeader, base: string): URL | undefined {
  const location = header('location')
  if (!location || !URL.canParse(location, base)) return undefined
  const url = new URL(location, base)
  return lastSegment(url) === undefined ? undefined : url
}

function lastSegment({ pathname }: URL): string | undefined {
  const segment = /([^/]+)\/?$/.exec(pathname)?.[1]
  try {
    return segment && decodeURIComponent(segment)
  } catch {
    return segment
  }
}
