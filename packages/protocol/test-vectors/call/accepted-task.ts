import type { JsonValue } from '../../src/json.js'

/** The URL that was called in the vectors. */
export const TASK_CALL_URL = 'https://agent.example/go'

/** A 202 and its task; undefined: it names none. The path of the task is at the origin of the agent. */
export interface AcceptedTaskVector {
  readonly title: string
  readonly body: JsonValue
  readonly headers: Readonly<Record<string, string>>
  readonly task: { readonly id: string; readonly status: string; readonly path: string } | undefined
}

export const ACCEPTED_TASK_VECTORS: readonly AcceptedTaskVector[] = [
  {
    title: 'taskId, status and Location',
    body: { taskId: 't1', status: 'pending' },
    headers: { location: '/jobs/1' },
    task: { id: 't1', status: 'pending', path: '/jobs/1' },
  },
  {
    title: 'taskId alone',
    body: { taskId: 'a b/c' },
    headers: {},
    task: { id: 'a b/c', status: 'running', path: '/tasks/a%20b%2Fc' },
  },
  { title: 'task_id', body: { task_id: 't2' }, headers: {}, task: { id: 't2', status: 'running', path: '/tasks/t2' } },
  { title: 'id', body: { id: 't3' }, headers: {}, task: { id: 't3', status: 'running', path: '/tasks/t3' } },
  {
    title: 'Location alone',
    body: null,
    headers: { location: '/tasks/t%204' },
    task: { id: 't 4', status: 'running', path: '/tasks/t%204' },
  },
  {
    title: 'an absolute Location with a trailing slash',
    body: null,
    headers: { location: 'https://agent.example/tasks/t5/' },
    task: { id: 't5', status: 'running', path: '/tasks/t5/' },
  },
  {
    title: 'Location before X-Task-ID',
    body: null,
    headers: { location: '/tasks/t6', 'x-task-id': 'other' },
    task: { id: 't6', status: 'running', path: '/tasks/t6' },
  },
  {
    title: 'X-Task-ID alone',
    body: null,
    headers: { 'x-task-id': 't7' },
    task: { id: 't7', status: 'running', path: '/tasks/t7' },
  },
  { title: 'no task', body: { ok: true }, headers: {}, task: undefined },
  { title: 'an empty body', body: null, headers: {}, task: undefined },
  { title: 'an empty id', body: { taskId: '' }, headers: {}, task: undefined },
  { title: 'a Location that is not a URL', body: null, headers: { location: 'http://[' }, task: undefined },
  { title: 'the root as Location', body: null, headers: { location: '/' }, task: undefined },
]

/** Locations to reject: polls would send the credentials of the agent there. */
export const OTHER_ORIGINS: readonly string[] = [
  'https://other.example/tasks/1',
  'http://agent.example/tasks/1',
  'https://agent.example:8443/tasks/1',
  '//other.example/tasks/1',
]

/** The body of a successful poll of the task `t1`, and what it says; a failure by the message of its error. */
export interface PolledTaskVector {
  readonly title: string
  readonly body: JsonValue
  readonly says: { readonly result: JsonValue } | { readonly failure: string } | 'running'
}

export const POLLED_TASK_VECTORS: readonly PolledTaskVector[] = [
  { title: 'a result', body: { taskId: 't1', status: 'completed', result: { x: 1 } }, says: { result: { x: 1 } } },
  { title: 'a result that is null', body: { taskId: 't1', status: 'done', result: null }, says: { result: null } },
  {
    title: 'an output under other member names',
    body: { task_id: 't1', status: 'Succeeded', output: 2 },
    says: { result: 2 },
  },
  { title: 'the id of the task', body: { id: 't1', status: 'success', result: 3 }, says: { result: 3 } },
  {
    title: 'success without a result',
    body: { taskId: 't1', status: 'finished' },
    says: { result: { taskId: 't1', status: 'finished' } },
  },
  { title: 'work in progress', body: { taskId: 't1', status: 'working' }, says: 'running' },
  {
    title: 'a failure with its reason',
    body: { taskId: 't1', status: 'failed', error: { code: 'Broke', message: 'it broke' } },
    says: { failure: 'it broke' },
  },
  { title: 'a failure', body: { taskId: 't1', status: 'canceled' }, says: { failure: 'canceled' } },
  {
    title: 'a result with an id and a status of its own',
    body: { id: 'order-7', status: 'failed' },
    says: { result: { id: 'order-7', status: 'failed' } },
  },
  { title: 'a body that is not an object', body: ['done'], says: { result: ['done'] } },
]
