import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { createAgentTable } from './agents/agent-table.js'
import { createAuditLog } from './audit-log.js'
import { createBridgeRoutes } from './bridge/bridge-routes.js'
import { createPageCalls } from './bridge/page-calls.js'
import type { Permission } from './consents/consent.js'
import { createConsentFile } from './consents/consent-file.js'
import { type AskForConsent, createConsentRequests } from './consents/consent-requests.js'
import { openConsentStore } from './consents/consent-store.js'
import { ensurePrivateFolder } from './ensure-private-folder.js'
import { closeServer, serveHttp } from './http/serve-http.js'
import { listen, listenPrivately } from './listen-privately.js'
import { LocalError, systemCodeOf } from './local-error.js'
import { createConsentRoutes } from './socket/consent-routes.js'
import { createSocketRoutes } from './socket/socket-routes.js'

export interface LocalRuntimeOptions {
  /** Path of the socket for programs of this user. Its folder gets mode 0700. */
  readonly socket: string
  /** Folder for consents and the log. It gets mode 0700. */
  readonly state: string
  /** Loopback port for web pages; 0 picks a free one. Default: no bridge. */
  readonly bridgePort?: number
  /** Asks the user for consent. Without it, consent can only be given by `POST /consents` on the socket. */
  readonly ask?: AskForConsent
  readonly onError?: (error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Milliseconds of a clock that is never set, to measure intervals. */
  readonly monotonic?: () => number
  readonly newToken?: () => string
}

/** A running runtime. */
export interface LocalRuntime {
  readonly socket: string
  /** The `localBridge` option of `@switchboard/client` in web pages. */
  readonly bridgeUrl: string | undefined
  close(): Promise<void>
}

/** Time in ms that running calls have to finish when the runtime stops. */
const GRACE_MS = 2000

const BRIDGE_HOST = '127.0.0.1'

/** Leaves the request open until it is answered over the socket. */
const neverAnswers: AskForConsent = () => new Promise(() => {})

/**
 * Starts the runtime for agents on this computer. Agents register over a socket and programs of the same user call
 * them there; web pages call them through a loopback bridge, with the user's consent (AURI §6.1, §10, C-91).
 *
 * @throws {LocalError} `conflict` if the socket or port is in use, `unusable` if a folder or file cannot be used
 */
export async function createLocalRuntime(options: LocalRuntimeOptions): Promise<LocalRuntime> {
  const { socket, state, bridgePort, ask = neverAnswers, onError = () => {} } = options
  const { now = Date.now, monotonic = () => performance.now() } = options
  const newToken = options.newToken ?? (() => randomBytes(32).toString('base64url'))
  await ensurePrivateFolder(state)
  const store = await openConsentStore({ file: createConsentFile(join(state, 'consents.json')), now, newToken })
  const log = createAuditLog({ path: join(state, 'local-log.jsonl'), now, onError })
  const onRefusal = ({ origin, agent, capability }: Permission): void =>
    log.write({ event: 'refused', origin, agent, capability })
  const requests = createConsentRequests({ ask, monotonic, onRefusal })
  const [agents, calls] = [createAgentTable(), createPageCalls()]
  let boundPort: number | undefined
  const bridgeUrl = (): string | undefined =>
    boundPort === undefined ? undefined : `http://${BRIDGE_HOST}:${boundPort}`

  const consents = createConsentRoutes({ store, requests, calls, log })
  const socketServer = serveHttp(createSocketRoutes({ agents, consents, log, monotonic, bridgeUrl }), onError)
  const port = (): number => boundPort ?? 0
  const bridge = serveHttp(createBridgeRoutes({ agents, store, requests, calls, log, monotonic, port }), onError)
  // The socket first: if another runtime is running, its error says so more clearly than a port in use.
  await listenPrivately(socketServer, socket)
  try {
    if (bridgePort !== undefined) boundPort = await bindBridge(bridge, bridgePort)
  } catch (error) {
    await closeServer(socketServer, 0)
    throw error
  }
  return {
    socket,
    bridgeUrl: bridgeUrl(),
    async close() {
      requests.refuse({})
      await Promise.all([socketServer, bridge].map((server) => closeServer(server, GRACE_MS)))
      await log.flush()
    },
  }
}

async function bindBridge(server: Server, port: number): Promise<number> {
  await listen(server, port, BRIDGE_HOST).catch((cause: unknown) => {
    throw new LocalError(
      'conflict',
      `the bridge cannot listen on ${BRIDGE_HOST}:${port}: ${systemCodeOf(cause) ?? String(cause)}`,
      { cause },
    )
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
