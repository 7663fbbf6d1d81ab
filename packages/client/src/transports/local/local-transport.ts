import { parseAgentUri } from '@switchboard/agent-uri'
import { asString, isLoopbackHost, isObject } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import { DEFAULT_LIMITS, type Transport } from '../call.js'
import { createDeadline } from '../deadline.js'
import { exchange, readJsonBody } from '../http/exchange.js'
import { createHttpTransport } from '../http/http-transport.js'
import type { RetryPolicy } from '../retry.js'
import { createRoutingTransport } from '../routing-transport.js'
import { runsInNode } from '../runs-in-node.js'
import { loadUnixFetch } from '../unix/unix-transport.js'
import { createInProcessTransport } from './in-process-transport.js'
import type { LocalRegistry } from './local-registry.js'

export interface LocalTransportOptions {
  readonly fetch: typeof fetch
  readonly retry: RetryPolicy
  /** Agents in this process; looked up first. */
  readonly registry?: LocalRegistry
  /** Socket of the local runtime; Node only. Default: the one of this user. */
  readonly socketPath?: string
  /** The runtime's loopback bridge, for web pages, which need the user's consent. */
  readonly bridgeUrl?: string
}

/** A connection to the local runtime. */
interface Runtime {
  readonly fetch: typeof fetch
  readonly base: string
}

/** The unified endpoint, for calls that name no operation. */
const UNIFIED = 'invoke'

/** Calls agents on this computer (AURI §6.1, C-91): in this process, or through the local runtime. */
export function createLocalTransport(options: LocalTransportOptions): Transport {
  return createRoutingTransport(async (call) => {
    const { host, path } = parseAgentUri(call.uri)
    const operation = call.operation ?? (path.slice(1) || undefined)
    const agent = options.registry?.get(host)
    if (agent) {
      return {
        transport: createInProcessTransport(agent),
        call: { ...call, ...(operation !== undefined && { operation }) },
      }
    }
    const runtime = await findRuntime(options)
    if (runtime === undefined) throw notFound(host)
    const url = `${runtime.base}/agents/${encodeURIComponent(host)}/${encodeURIComponent(operation ?? UNIFIED)}`
    return {
      transport: createHttpTransport({ fetch: runtime.fetch, retry: options.retry }),
      call: { ...call, url, method: 'POST', input: call.input ?? {} },
    }
  })
}

/** The socket of a local agent; undefined if the runtime does not know the agent, or no runtime is running. */
export async function socketOfLocalAgent(options: LocalTransportOptions, name: string): Promise<string | undefined> {
  const runtime = await findRuntime(options)
  if (runtime === undefined) return undefined
  const deadline = createDeadline(DEFAULT_LIMITS.timeoutMs, `looking up ${name} in the local runtime`)
  try {
    const url = `${runtime.base}/agents/${encodeURIComponent(name)}`
    const request = { method: 'GET', url, headers: { accept: 'application/json' }, isRepeatable: true }
    const response = await exchange({ fetch: runtime.fetch, retry: options.retry }, request, deadline)
    const descriptor = await readJsonBody(response, DEFAULT_LIMITS.maxBytes, deadline)
    const transports = isObject(descriptor) && isObject(descriptor.transport) ? descriptor.transport : {}
    return asString(transports.unix)?.replace(/^unix:(\/\/)?/, '')
  } catch (error) {
    if (error instanceof ClientError && error.status === 404) return undefined
    throw error
  } finally {
    deadline.clear()
  }
}

async function findRuntime(options: LocalTransportOptions): Promise<Runtime | undefined> {
  if (options.bridgeUrl !== undefined) return { fetch: options.fetch, base: assertBridge(options.bridgeUrl) }
  if (!runsInNode()) return undefined
  const { findLocalSocket } = await import('./local-socket.node.js')
  const socket = await findLocalSocket(options.socketPath)
  if (socket === undefined) return undefined
  const { createUnixFetch } = await loadUnixFetch()
  return { fetch: createUnixFetch(socket), base: 'http://localhost' }
}

/** The default socket of this user's local runtime. Node only. */
export async function defaultLocalSocket(): Promise<string> {
  if (!runsInNode()) throw new ClientError('unsupported_transport', 'Unix sockets are only available in Node')
  const { localSocketPath } = await import('./local-socket.node.js')
  return localSocketPath()
}

/** Throws unless the bridge is on this computer. */
function assertBridge(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol) || !isLoopbackHost(parsed.hostname)) {
    throw new ClientError('invalid_argument', `localBridge must be a loopback URL, not ${url}`)
  }
  return url.replace(/\/+$/, '')
}

const notFound = (name: string): ClientError =>
  new ClientError(
    'not_found',
    `there is no agent named ${name} in this process, and no local runtime is running: start one with switchboard local`,
  )
