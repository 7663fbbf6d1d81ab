import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import type { Config } from '../config/settings.js'
import type { Store } from '../store/store.js'
import type { ReadableMetrics } from '../telemetry/create-metrics.js'

/** What every area of the server is built from. */
export interface Base {
  readonly config: Config
  readonly store: Store
  readonly log: FastifyBaseLogger
  readonly metrics: ReadableMetrics
  /** Wall clock, in milliseconds since 1970: for timestamps and expiry times. */
  readonly now: () => number
  /** Monotonic clock, in milliseconds: for intervals. */
  readonly monotonic: () => number
  readonly state: ServerState
  /** Base of the absolute URLs that the directory hands out. */
  readonly baseUrl: () => string
  /** Returns a handler that logs errors under this message. */
  readonly logError: (message: string) => (error: unknown) => void
}

/** What changes while the server runs. */
export interface ServerState {
  phase: 'starting' | 'ready' | 'stopping'
  /** URL of the bound address, once there is one. */
  listening: string | undefined
}

export function createBase(
  config: Config,
  store: Store,
  log: FastifyBaseLogger,
  metrics: ReadableMetrics,
  clocks: Pick<Base, 'now' | 'monotonic'>,
): Base {
  const state: ServerState = { phase: 'starting', listening: undefined }
  return {
    config,
    store,
    log,
    metrics,
    ...clocks,
    state,
    baseUrl: () => config.publicUrl ?? state.listening ?? `http://${config.host}:${config.port}`,
    logError: (message) => (error) => log.error({ err: error }, message),
  }
}

/** JSON lines on stderr. Request headers are never logged, so neither are secrets. */
export const createLog = (level: string): FastifyBaseLogger =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2))
