import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import type { Config } from '../config/settings.js'
import { createStoreStatus, type StoreStatus } from '../services/operations/store-status.js'
import type { Store } from '../store/store.js'
import { isStoreFailure } from '../store/store-error.js'
import { createStoreHealth, type StoreHealth } from '../store/store-health.js'
import type { ReadableMetrics } from '../telemetry/create-metrics.js'
import type { ClosableTraces } from '../telemetry/create-traces.js'

/** What every area of the server is built from. */
export interface Base {
  readonly config: Config
  readonly store: Store
  readonly storeStatus: StoreStatus
  readonly log: FastifyBaseLogger
  readonly metrics: ReadableMetrics
  /** Undefined: nobody receives spans. */
  readonly traces: ClosableTraces | undefined
  /** Wall clock, in milliseconds since 1970: for timestamps and expiry times. */
  readonly now: () => number
  /** Monotonic clock, in milliseconds: for intervals. */
  readonly monotonic: () => number
  readonly state: ServerState
  /** Base of the absolute URLs that the directory hands out. */
  readonly baseUrl: () => string
  /** Returns a handler that logs errors under this message. Failures of the store are not logged: its health reports them. */
  readonly logError: (message: string, fields?: object) => (error: unknown) => void
}

/** What changes while the server runs. */
export interface ServerState {
  phase: 'starting' | 'ready' | 'stopping'
  /** URL of the bound address, once there is one. */
  listening: string | undefined
}

export function createBase(
  config: Config,
  { store, health }: { store: Store; health: StoreHealth },
  log: FastifyBaseLogger,
  telemetry: Pick<Base, 'metrics' | 'traces'>,
  clocks: Pick<Base, 'now' | 'monotonic'>,
): Base {
  const state: ServerState = { phase: 'starting', listening: undefined }
  return {
    config,
    store,
    storeStatus: createStoreStatus({ health, now: clocks.now, keysMaxStaleSeconds: config.keys.maxStaleSeconds }),
    log,
    ...telemetry,
    ...clocks,
    state,
    baseUrl: () => config.publicUrl ?? state.listening ?? `http://${config.host}:${config.port}`,
    logError: (message, fields) => (error) => {
      if (isStoreFailure(error)) log.debug({ ...fields, reason: error.message }, message)
      else log.error({ ...fields, err: error }, message)
    },
  }
}

/** Health of the store that logs one line when a fault begins and one when it ends. */
export const createLoggedHealth = (log: FastifyBaseLogger, now: () => number): StoreHealth =>
  createStoreHealth({
    now,
    random: Math.random,
    onFault: ({ kind, reason }) =>
      log.error(
        { reason },
        kind === 'unreachable'
          ? 'the database is not available: serving from memory, and refusing writes'
          : 'the database cannot be written: refusing writes',
      ),
    onRecovery: ({ since }) => log.info({ awayMs: now() - since }, 'the database is available again'),
    onFailure: (reason) =>
      log.warn({ reason }, 'an operation of the database failed, although the database is available'),
  })

/** JSON lines on stderr. Request headers are never logged, so neither are secrets. */
export const createLog = (level: string): FastifyBaseLogger =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2))
