import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { SAFE } from '../http/serve-http.js'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import type { AgentTable } from './agent-table.js'
import type { LocalAgent } from './local-agent.js'
import { openTarget } from './open-target.js'

/** One request for an agent, whoever sent it. */
export interface ForwardedCall {
  readonly agent: LocalAgent
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** Below the agent, encoded. */
  readonly path: string
  /** Headers that go to the agent, and come back from it. */
  readonly passes: { readonly to: ReadonlySet<string>; readonly back: ReadonlySet<string> }
  readonly body?: Uint8Array
  readonly signal: AbortSignal
  /** The agent has taken the work on and will answer later under this id. */
  readonly onTask?: (id: string) => void
}

/** Headers of calls that concern agents; all others end here, cookies above all. */
export const TO_AGENT: readonly string[] = [
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'prefer',
  'x-agent-version',
  'x-delegation-chain',
  'x-request-id',
  'x-session-id',
  'x-task-id',
]
export const FROM_AGENT: readonly string[] = [
  'content-type',
  'content-length',
  'idempotent-replayed',
  'preference-applied',
  'retry-after',
  'x-agent-version',
  'x-output-valid',
  'x-request-id',
  'x-session-id',
  'x-task-id',
]

/** Sends a call on and its answer back, as fast as the caller reads. Returns the status of the answer. */
export async function forwardCall(
  agents: AgentTable,
  message: IncomingMessage,
  response: ServerResponse,
  { agent, method, path, passes, body, signal, onTask }: ForwardedCall,
): Promise<number> {
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  const headers = pick(message, passes.to)
  const request = { method, path, headers, ...(body && { body }), signal: AbortSignal.any([signal, leaving.signal]) }
  const answer = await openTarget(agent.target, request).catch((error: unknown) => {
    if (error instanceof LocalError && error.code === 'unavailable') agents.forget(agent)
    throw error
  })
  const status = answer.statusCode ?? 502
  if (status >= 300 && status < 400) {
    answer.destroy()
    throw new LocalError('agent_error', 'the agent redirects, and calls follow no redirects')
  }
  const taskId = status === 202 ? taskIdOf(answer) : undefined
  if (taskId !== undefined) onTask?.(taskId)
  const location = taskId === undefined ? {} : { location: `/agents/${agent.name}/tasks/${encodeURIComponent(taskId)}` }
  response.writeHead(status, { ...SAFE, ...pick(answer, passes.back), ...location })
  // What comes is on its way at once, though no part may have come yet.
  response.flushHeaders()
  answer.setTimeout(LIMITS.silenceMs, () => answer.destroy())
  await pipeline(answer, response)
  return status
}

function pick({ headers }: IncomingMessage, names: ReadonlySet<string>): Record<string, string> {
  const wanted = Object.entries(headers satisfies OutgoingHttpHeaders).flatMap(([name, value]) =>
    typeof value === 'string' && names.has(name) ? [[name, value] as const] : [],
  )
  return Object.fromEntries(wanted)
}

/** Agents name a task by where it is asked for, `…/tasks/{id}` (AURI §8.1.1), or by its id alone. */
function taskIdOf({ headers }: IncomingMessage): string | undefined {
  const last = /\/tasks\/([^/?#]+)\/?$/.exec(headers.location ?? '')?.[1]
  const header = headers['x-task-id']
  return last === undefined ? (typeof header === 'string' ? header : undefined) : decode(last)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The path of an operation; a name with slashes has several segments, as in agent URIs (C-85). */
export const pathOf = (operation: string): string => `/${operation.split('/').map(encodeURIComponent).join('/')}`
