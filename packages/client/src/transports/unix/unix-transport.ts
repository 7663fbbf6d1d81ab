import { parseAgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../../errors.js'
import type { Call, Transport } from '../call.js'
import { createHttpTransport } from '../http/http-transport.js'
import type { RetryPolicy } from '../retry.js'
import { createRoutingTransport } from '../routing-transport.js'
import { runsInNode } from '../runs-in-node.js'

export interface UnixTransportOptions {
  readonly retry: RetryPolicy
  /** Folders with sockets that may be called by path (C-81). */
  readonly socketFolders: readonly string[]
  /** Looks up the socket of an agent by name; undefined if the agent is unknown. */
  readonly socketOf?: (name: string) => Promise<string | undefined>
}

/** Calls agents on this computer with HTTP over a Unix socket. Node only. */
export function createUnixTransport(options: UnixTransportOptions): Transport {
  return createRoutingTransport(async (call) => {
    const { createUnixFetch, assertAllowedSocket } = await loadUnixFetch()
    const { socket, path, isTrusted } = await locate(call, options)
    const target = isTrusted ? socket : await assertAllowedSocket(socket, options.socketFolders)
    return {
      transport: createHttpTransport({ fetch: createUnixFetch(target), retry: options.retry }),
      call: { ...call, url: `http://localhost${path}` },
    }
  })
}

interface SocketLocation {
  readonly socket: string
  /** Path of the HTTP request. */
  readonly path: string
  /** The user's own local runtime named the socket, rather than a URI or a descriptor. */
  readonly isTrusted: boolean
}

async function locate(call: Call, { socketOf }: UnixTransportOptions): Promise<SocketLocation> {
  // transport.unix in a descriptor is the path of a socket (C-81).
  const file = /^(?:unix:(?:\/\/)?)?(\/[^?#]*)$/.exec(call.endpoint.url)?.[1]
  if (file !== undefined) {
    const path = call.operation === undefined ? '/' : `/${encodeURIComponent(call.operation)}`
    return { socket: file, path, isTrusted: false }
  }
  const uri = parseAgentUri(call.url)
  const path = (uri.path || '/') + (uri.query === null ? '' : `?${uri.query}`)
  if (uri.socketPath !== undefined) return { socket: uri.socketPath, path, isTrusted: false }
  const socket = await socketOf?.(uri.host)
  if (socket === undefined) throw new ClientError('not_found', `there is no agent named ${uri.host} on this computer`)
  return { socket, path, isTrusted: true }
}

/** Loads the module that needs Node. */
export async function loadUnixFetch(): Promise<typeof import('./unix-fetch.node.js')> {
  if (!runsInNode()) throw new ClientError('unsupported_transport', 'Unix sockets are only available in Node')
  return import('./unix-fetch.node.js')
}
