import { type IncomingMessage, request } from 'node:http'
import { LIMITS } from '../limits.js'
import { codeOf } from '../listen-privately.js'
import { LocalError } from '../local-error.js'
import type { Target } from './local-agent.js'

export interface TargetRequest {
  readonly method: string
  /** Below the agent: `/translate`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly signal: AbortSignal
}

/** Sends a request to an agent; its answer has begun when this resolves. Redirects are not followed. */
export function openTarget(target: Target, { method, path, headers, body, signal }: TargetRequest) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({
      ...placeOf(target, path),
      method,
      headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
      // Nothing leaves this computer, so a connection costs nothing, and none outlives its call.
      agent: false,
      maxHeaderSize: LIMITS.headerBytes,
      timeout: LIMITS.silenceMs,
      signal,
    })
    sent.on('response', resolve)
    sent.on('timeout', () => sent.destroy(new LocalError('timeout', 'the agent has been silent for too long')))
    sent.on('error', (cause) => reject(cause instanceof LocalError ? cause : toLocalError(cause)))
    sent.end(body)
  })
}

function placeOf(target: Target, path: string): { host?: string; port?: string; socketPath?: string; path: string } {
  if ('socket' in target) return { socketPath: target.socket, host: 'localhost', path }
  const { hostname, port, pathname } = new URL(target.url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port, path: pathname.replace(/\/$/, '') + path }
}

/** Errors of connections to which nobody listens any more. */
const GONE = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'])

/** `unavailable` says that the agent is gone, `agent_error` that it broke off. */
const toLocalError = (cause: Error): LocalError =>
  GONE.has(codeOf(cause) ?? '')
    ? new LocalError('unavailable', 'the agent has registered and does not listen any more', { cause })
    : new LocalError('agent_error', 'the agent broke the call off', { cause })
