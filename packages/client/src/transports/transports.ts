import { ClientError } from '../errors.js'
import type { AddressPolicy } from '../resolve/address-policy.js'
import type { Transport } from './call.js'
import { createHttpTransport } from './http/http-transport.js'
import type { LocalRegistry } from './local/local-registry.js'
import { createLocalTransport, socketOfLocalAgent } from './local/local-transport.js'
import { createMatrixTransport, type MatrixOptions } from './matrix/matrix-transport.js'
import { DEFAULT_RETRY, type RetryPolicy } from './retry.js'
import { createUnixTransport } from './unix/unix-transport.js'
import { createSocketOpener, type OpenSocket, type SocketTls } from './websocket/open-socket.js'
import { createWebSocketTransport } from './websocket/websocket-transport.js'

export interface TransportOptions extends AddressPolicy {
  readonly fetch?: typeof fetch
  readonly retry?: Partial<RetryPolicy>
  /** Trusted CAs and client certificate for WebSockets; Node only. For https, configure `fetch`. */
  readonly socketTls?: SocketTls
  /** Opens WebSockets. Default: `ws` in Node, else the platform's WebSocket. */
  readonly openSocket?: OpenSocket
  /** Folders with sockets that `agent+unix` may call by path. Default: none (C-81). */
  readonly socketFolders?: readonly string[]
  /** Agents in this process, for `agent+local`. */
  readonly localRegistry?: LocalRegistry
  /** Socket of the local runtime. Default: the one of this user. */
  readonly localSocket?: string
  /** URL of the local runtime's loopback bridge, for web pages. */
  readonly localBridge?: string
  /** Enables `agent+matrix`. */
  readonly matrix?: MatrixOptions
}

/** The available transports, by their name in `agent+name://`. */
export interface Transports {
  readonly names: readonly string[]
  /** @throws {ClientError} `unsupported_transport`; never falls back to HTTPS (C-91) */
  get(name: string): Transport
  /** Adds or replaces a transport. */
  register(name: string, transport: Transport): void
  /** Closes idle and shared connections of all transports. */
  close(): Promise<void>
}

/** https, wss, unix, local and, with an access token, matrix; more can be registered (AURI §6.1). */
export function createTransports(options: TransportOptions = {}): Transports {
  const fetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const retry = { ...DEFAULT_RETRY, ...options.retry }
  const http = createHttpTransport({ fetch, retry })
  const open = options.openSocket ?? createSocketOpener(options.socketTls)
  const websocket = createWebSocketTransport({ open, retry })
  const { localRegistry: registry, localSocket: socketPath, localBridge: bridgeUrl, matrix } = options
  const local = {
    fetch,
    retry,
    ...(registry && { registry }),
    ...(socketPath !== undefined && { socketPath }),
    ...(bridgeUrl !== undefined && { bridgeUrl }),
  }
  const unix = {
    retry,
    socketFolders: options.socketFolders ?? [],
    socketOf: (name: string) => socketOfLocalAgent(local, name),
  }
  const newId = (): string => crypto.randomUUID()
  const known = new Map<string, Transport>([
    ['https', http],
    ['http', http],
    ['wss', websocket],
    ['ws', websocket],
    ['unix', createUnixTransport(unix)],
    ['local', createLocalTransport(local)],
    ...(matrix ? [['matrix', createMatrixTransport({ fetch, retry, matrix, policy: options, newId })] as const] : []),
  ])
  return {
    get names() {
      return [...known.keys()]
    },
    get(name) {
      const transport = known.get(name)
      if (transport) return transport
      const names = [...known.keys()].join(', ')
      throw new ClientError(
        'unsupported_transport',
        `agent+${name} is not supported: register a transport for it, or use one of ${names}`,
      )
    },
    register(name, transport) {
      if (!/^[a-z][a-z0-9-]*$/.test(name)) {
        throw new ClientError(
          'invalid_argument',
          `"${name}" is not a valid transport name: use lower-case letters, digits and "-"`,
        )
      }
      known.set(name, transport)
    },
    async close() {
      await Promise.all(Array.from(known.values(), (transport) => transport.close?.()))
    },
  }
}
