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
  /** Whom WebSockets trust and who they say they are; Node only. For https the given fetch knows that. */
  readonly socketTls?: SocketTls
  /** How WebSockets are opened, where the platform's own way does not do. */
  readonly openSocket?: OpenSocket
  /** Folders whose sockets `agent+unix` may call by path; none unless named (C-81). */
  readonly socketFolders?: readonly string[]
  /** Agents of this process, for `agent+local`. */
  readonly localRegistry?: LocalRegistry
  /** Where the local runtime listens, if not at the user's usual place. */
  readonly localSocket?: string
  /** The local runtime's loopback bridge, for pages. */
  readonly localBridge?: string
  /** Without an access token `agent+matrix` is not spoken. */
  readonly matrix?: MatrixOptions
  /** A fresh id for messages. */
  readonly newId?: () => string
}

/** The transports that can be spoken, by the word in `agent+word://`. */
export interface Transports {
  readonly names: readonly string[]
  /** @throws {ClientError} `unsupported_transport`; HTTPS is never the guess (C-91) */
  get(name: string): Transport
  /** Adds one, or replaces one that is there. */
  register(name: string, transport: Transport): void
  /** Lets go of every connection that is kept open. */
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
  const newId = options.newId ?? (() => crypto.randomUUID())
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
      throw new ClientError('unsupported_transport', `agent+${name} is not spoken here: register it, or use ${names}`)
    },
    register(name, transport) {
      if (!/^[a-z][a-z0-9-]*$/.test(name)) {
        throw new ClientError('invalid_argument', `"${name}" is no name of a transport: letters, digits and "-"`)
      }
      known.set(name, transport)
    },
    async close() {
      await Promise.all(Array.from(known.values(), (transport) => transport.close?.()))
    },
  }
}
