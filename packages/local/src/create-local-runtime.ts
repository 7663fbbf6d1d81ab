import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { createAgentTable } from './agents/agent-table.js'
import { createAuditLog } from './audit-log.js'
import { createBridgeRoutes } from './bridge/bridge-routes.js'
import { createPageCalls } from './bridge/page-calls.js'
import type { Right } from './consents/consent.js'
import { openConsentBook } from './consents/consent-book.js'
import { createConsentFile } from './consents/consent-file.js'
import { type AskPerson, createQuestions } from './consents/questions.js'
import { closeServer, serveHttp } from './http/serve-http.js'
import { listen, listenPrivately } from './listen-privately.js'
import { LocalError } from './local-error.js'
import { ensurePrivateFolder } from './private-folder.js'
import { createConsentRoutes } from './socket/consent-routes.js'
import { createSocketRoutes } from './socket/socket-routes.js'

export interface LocalRuntimeOptions {
  /** Where programs of this user find the runtime; its folder becomes the user's own. */
  readonly socket: string
  /** Folder for consents and the log; it becomes the user's own. */
  readonly state: string
  /** Loopback port for web pages, 0 picks a free one; undefined: there is no bridge. */
  readonly bridgePort?: number
  /** Asks the person; without it only `POST /consents` on the socket says yes. */
  readonly ask?: AskPerson
  readonly onError?: (error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now?: () => number
  readonly newToken?: () => string
}

/** The runtime, listening. */
export interface LocalRuntime {
  readonly socket: string
  /** What pages give as `localBridge`. */
  readonly bridgeUrl: string | undefined
  close(): Promise<void>
}

/** Milliseconds that calls under way get when the runtime stops. */
const GRACE_MS = 2000

const BRIDGE_HOST = '127.0.0.1'

const leaveItToOthers: AskPerson = () => new Promise(() => {})

/**
 * Starts the runtime for agents on this computer: they register on a socket, programs of the same user call them
 * there, and web pages through a loopback bridge after the person has consented (AURI §6.1, §10, C-91).
 *
 * @throws {LocalError} `conflict` if another runtime listens there, `unusable` if a folder or file cannot be used
 */
export async function createLocalRuntime(options: LocalRuntimeOptions): Promise<LocalRuntime> {
  const { socket, state, bridgePort, ask = leaveItToOthers, onError = () => {}, now = Date.now } = options
  const newToken = options.newToken ?? (() => randomBytes(32).toString('base64url'))
  await ensurePrivateFolder(state)
  const book = await openConsentBook({ file: createConsentFile(join(state, 'consents.json')), now, newToken })
  const log = createAuditLog({ path: join(state, 'local-log.jsonl'), now, onError })
  const onRefusal = ({ origin, agent, capability }: Right): void =>
    log.write({ event: 'refused', origin, agent, capability })
  const questions = createQuestions({ ask, now, onRefusal })
  const [agents, calls] = [createAgentTable(), createPageCalls()]
  let boundPort: number | undefined
  const bridgeUrl = (): string | undefined =>
    boundPort === undefined ? undefined : `http://${BRIDGE_HOST}:${boundPort}`

  const consents = createConsentRoutes({ book, questions, calls, log })
  const socketServer = serveHttp(createSocketRoutes({ agents, consents, log, now, bridgeUrl }), onError)
  const port = (): number => boundPort ?? 0
  const bridge = serveHttp(createBridgeRoutes({ agents, book, questions, calls, log, now, port }), onError)
  // The socket comes first: it tells whether another runtime is there, which would have the port as well.
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
      questions.refuse({})
      await Promise.all([socketServer, bridge].map((server) => closeServer(server, GRACE_MS)))
      await log.flush()
    },
  }
}

async function bindBridge(server: Server, port: number): Promise<number> {
  await listen(server, port, BRIDGE_HOST).catch((cause: unknown) => {
    throw new LocalError('conflict', `the bridge cannot listen on ${BRIDGE_HOST}:${port}: ${String(cause)}`, { cause })
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
