import { parseAgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../../errors.js'
import type { Call, Transport } from '../call.js'
import { createHttpTransport } from '../http/http-transport.js'
import type { RetryPolicy } from '../retry.js'
import { runsInNode } from '../runtime.js'

export interface UnixTransportOptions {
  readonly retry: RetryPolicy
  /** Folders whose sockets may be called by their path; none unless the caller names some (C-81). */
  readonly socketFolders: readonly string[]
  /** Where the agent of a name listens: what the local runtime or a map knows; undefined if nobody knows it. */
  readonly socketOf?: (name: string) => Promise<string | undefined>
}

/** HTTP over the socket of an agent on this computer. Node only. */
export function createUnixTransport(options: UnixTransportOptions): Transport {
  const open = async (call: Call): Promise<{ transport: Transport; call: Call }> => {
    const { createUnixFetch, assertAllowedSocket } = await loadUnixFetch()
    const { socket, path, isVouchedFor } = await locate(call, options)
    const target = isVouchedFor ? socket : await assertAllowedSocket(socket, options.socketFolders)
    return {
      transport: createHttpTransport({ fetch: createUnixFetch(target), retry: options.retry }),
      call: { ...call, url: `http://localhost${path}` },
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

interface Place {
  readonly socket: string
  /** What is asked for on it. */
  readonly path: string
  /** The runtime of this computer's user named it, and no stranger's document or URI. */
  readonly isVouchedFor: boolean
}

async function locate(call: Call, { socketOf }: UnixTransportOptions): Promise<Place> {
  // A descriptor may give the socket as a file (transport.unix, C-81).
  const file = /^(?:unix:(?:\/\/)?)?(\/[^?#]*)$/.exec(call.endpoint.url)?.[1]
  if (file !== undefined) {
    const path = call.operation === undefined ? '/' : `/${encodeURIComponent(call.operation)}`
    return { socket: file, path, isVouchedFor: false }
  }
  const uri = parseAgentUri(call.url)
  const path = (uri.path || '/') + (uri.query === null ? '' : `?${uri.query}`)
  if (uri.socketPath !== undefined) return { socket: uri.socketPath, path, isVouchedFor: false }
  const socket = await socketOf?.(uri.host)
  if (socket === undefined) throw new ClientError('not_found', `no agent of this computer is called ${uri.host}`)
  return { socket, path, isVouchedFor: true }
}

/** The part that needs Node. */
export async function loadUnixFetch(): Promise<typeof import('./unix-fetch.node.js')> {
  if (!runsInNode()) throw new ClientError('unsupported_transport', 'Unix sockets are there in Node only')
  return import('./unix-fetch.node.js')
}
