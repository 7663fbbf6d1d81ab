import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { taskIdOfHeaders } from '@switchboard/protocol'
import { SAFE_HEADERS } from '../http/serve-http.js'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import type { AgentTable } from './agent-table.js'
import type { LocalAgent } from './local-agent.js'
import { sendToAgent } from './send-to-agent.js'

/** A request to forward, from a program or from a web page. */
export interface ForwardedCall {
  readonly agent: LocalAgent
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** Percent-encoded, relative to the agent's base URL. */
  readonly path: string
  /** Headers to forward: those of the request and those of the response. */
  readonly forwardedHeaders: { readonly request: ReadonlySet<string>; readonly response: ReadonlySet<string> }
  readonly body?: Uint8Array
  /** Cancels the call, as does a caller that disconnects. */
  readonly signal?: AbortSignal
  /** Called with the id of the task if the agent defers the call (202). */
  readonly onTask?: (id: string) => void
}

/** Request headers that are forwarded to agents. All others are dropped, cookies above all. */
export const REQUEST_HEADERS: readonly string[] = [
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
/** Response headers that are forwarded to callers. */
export const RESPONSE_HEADERS: readonly string[] = [
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

/** Forwards a call to the agent and streams the response back, with backpressure. */
export async function forwardCall(
  agents: AgentTable,
  message: IncomingMessage,
  response: ServerResponse,
  { agent, method, path, forwardedHeaders, body, signal, onTask }: ForwardedCall,
): Promise<void> {
  const disconnected = new AbortController()
  response.once('close', () => disconnected.abort())
  const headers = pick(message, forwardedHeaders.request)
  const cancelled = AbortSignal.any([disconnected.signal, ...(signal ? [signal] : [])])
  const request = { method, path, headers, ...(body && { body }), signal: cancelled }
  const incoming = await sendToAgent(agent.target, request).catch((error: unknown) => {
    if (error instanceof LocalError && error.code === 'unavailable') agents.evict(agent)
    throw error
  })
  const status = incoming.statusCode ?? 502
  if (status >= 300 && status < 400) {
    incoming.destroy()
    throw new LocalError(
      'agent_error',
      `the agent responded with a redirect (${status}), and calls do not follow redirects`,
    )
  }
  const taskId = status === 202 ? taskIdOfHeaders((name) => headerOf(incoming, name)) : undefined
  if (taskId !== undefined) onTask?.(taskId)
  const location = taskId === undefined ? {} : { location: `/agents/${agent.name}/tasks/${encodeURIComponent(taskId)}` }
  response.writeHead(status, { ...SAFE_HEADERS, ...pick(incoming, forwardedHeaders.response), ...location })
  // Send the headers at once: the first part of a stream may take a while.
  response.flushHeaders()
  incoming.setTimeout(LIMITS.silenceMs, () => incoming.destroy())
  await pipeline(incoming, response)
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

function pick({ headers }: IncomingMessage, names: ReadonlySet<string>): Record<string, string> {
  const wanted = Object.entries(headers satisfies OutgoingHttpHeaders).flatMap(([name, value]) =>
    typeof value === 'string' && names.has(name) ? [[name, value] as const] : [],
  )
  return Object.fromEntries(wanted)
}

/** The path of an operation. Slashes in the name separate segments, as in agent URIs (C-85). */
export const pathOf = (operation: string): string => `/${operation.split('/').map(encodeURIComponent).join('/')}`
