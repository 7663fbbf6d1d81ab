import { type IncomingMessage, request } from 'node:http'
import { LIMITS } from '../limits.js'
import { LocalError, systemCodeOf } from '../local-error.js'
import type { Target } from './local-agent.js'

export interface AgentRequest {
  readonly method: string
  /** Relative to the agent's base URL: `/translate`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly signal: AbortSignal
}

/** Sends a request to an agent; resolves with the response headers, before the body. Does not follow redirects. */
export function sendToAgent(target: Target, { method, path, headers, body, signal }: AgentRequest) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request({
      ...requestOptionsOf(target, path),
      method,
      headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
      // Local connections are cheap: open one per call and keep none.
      agent: false,
      maxHeaderSize: LIMITS.headerBytes,
      timeout: LIMITS.silenceMs,
      signal,
    })
    outgoing.on('response', resolve)
    outgoing.on('timeout', () =>
      outgoing.destroy(new LocalError('timeout', `the agent sent nothing for ${LIMITS.silenceMs / 1000} s`)),
    )
    outgoing.on('error', (cause) => reject(cause instanceof LocalError ? cause : toLocalError(cause)))
    outgoing.end(body)
  })
}

function requestOptionsOf(
  target: Target,
  path: string,
): { host?: string; port?: string; socketPath?: string; path: string } {
  if ('socket' in target) return { socketPath: target.socket, host: 'localhost', path }
  const { hostname, port, pathname } = new URL(target.url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port, path: pathname.replace(/\/$/, '') + path }
}

/** System errors which show that no process is listening any more. */
const NOT_LISTENING = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'])

/** `unavailable` if the agent is no longer listening, `agent_error` if the connection broke during the call. */
const toLocalError = (cause: Error): LocalError =>
  NOT_LISTENING.has(systemCodeOf(cause) ?? '')
    ? new LocalError('unavailable', 'the agent is registered but no longer listening', { cause })
    : new LocalError('agent_error', 'the agent closed the connection before it had responded', { cause })
