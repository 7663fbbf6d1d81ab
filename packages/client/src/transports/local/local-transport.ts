import { parseAgentUri } from '@switchboard/agent-uri'
import { asString, isLoopbackHost, isObject } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import { type Call, DEFAULT_LIMITS, type Transport } from '../call.js'
import { createDeadline } from '../deadline.js'
import { exchange, readJsonBody } from '../http/exchange.js'
import { createHttpTransport } from '../http/http-transport.js'
import type { RetryPolicy } from '../retry.js'
import { runsInNode } from '../runtime.js'
import { loadUnixFetch } from '../unix/unix-transport.js'
import type { LocalRegistry } from './local-registry.js'
import { createProcessTransport } from './process-transport.js'

export interface LocalTransportOptions {
  readonly fetch: typeof fetch
  readonly retry: RetryPolicy
  /** Agents of this process, asked first. */
  readonly registry?: LocalRegistry
  /** Where the local runtime listens, if not at the user's usual place; Node only. */
  readonly socketPath?: string
  /** The runtime's loopback bridge, for pages: it asks the person before it lets one in. */
  readonly bridgeUrl?: string
}

/** Where local agents that are not in this process are asked for. */
interface Runtime {
  readonly fetch: typeof fetch
  readonly base: string
}

/** Name of the way in that takes any operation. */
const UNIFIED = 'invoke'

/** Agents on this computer (AURI §6.1, C-91): in this process, or through the local runtime. Nothing leaves it. */
export function createLocalTransport(options: LocalTransportOptions): Transport {
  const open = async (call: Call): Promise<{ transport: Transport; call: Call }> => {
    const { host, path } = parseAgentUri(call.uri)
    const operation = call.operation ?? (path.slice(1) || undefined)
    const agent = options.registry?.get(host)
    if (agent) {
      return {
        transport: createProcessTransport(agent),
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
  }
  return {
    async invoke(call) {
      const way = await open(call)
      return way.transport.invoke(way.call)
    },
    async *stream(call) {
      const way = await open(call)
      yield* way.transport.stream(way.call)
    },
  }
}

/** Where the local runtime says the agent of a name listens; undefined if it knows no such agent, or none runs. */
export async function socketOfLocalAgent(options: LocalTransportOptions, name: string): Promise<string | undefined> {
  const runtime = await findRuntime(options)
  if (runtime === undefined) return undefined
  const deadline = createDeadline(DEFAULT_LIMITS.timeoutMs, `asking the local runtime for ${name}`)
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

/** Where the local runtime of this user listens unless told otherwise; whoever runs one listens there. Node only. */
export async function defaultLocalSocket(): Promise<string> {
  if (!runsInNode()) throw new ClientError('unsupported_transport', 'Unix sockets are there in Node only')
  const { localSocketPath } = await import('./local-socket.node.js')
  return localSocketPath()
}

/** A bridge to this computer is on this computer. */
function assertBridge(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol) || !isLoopbackHost(parsed.hostname)) {
    throw new ClientError('invalid_argument', `the local bridge must have a loopback URL: ${url}`)
  }
  return url.replace(/\/+$/, '')
}

const notFound = (name: string): ClientError =>
  new ClientError(
    'not_found',
    `no local agent is called ${name}: it is not in this process, and no local runtime answers (switchboard local)`,
  )
