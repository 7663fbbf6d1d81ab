import { setTimeout as pause } from 'node:timers/promises'
import type { TextEngine, ThreadChecks } from '@switchboard/search'
import type { Outcomes } from '../services/calls/outcomes/outcomes.js'
import type { Context } from '../services/context.js'
import type { WordIndexing } from '../services/discovery/word-indexing.js'
import { startPruning } from '../services/operations/prune.js'
import type { SubjectData } from '../services/operations/subject-data.js'
import type { Expiry } from '../services/registry/expire.js'
import { followStore } from '../services/registry/follow.js'
import type { Base } from './base.js'
import type { Calls } from './calls.js'
import type { CrawlParts } from './crawl.js'
import type { Federation } from './federation.js'
import type { Http } from './http.js'
import type { Identity } from './identity.js'
import type { Learning } from './learning.js'
import type { LimitParts } from './limits.js'
import { type Listening, listenOn } from './listen.js'
import type { Mdns } from './mdns.js'
import type { ProbeParts } from './probes.js'
import { createStopInTime } from './stop-in-time.js'
import type { Trust } from './trust.js'

/** Milliseconds between polls of the store for changes by other processes. */
export const POLL_MS = 200
/** Milliseconds in which everything has stopped, whatever hangs: operators expect the process to end within 10 s. */
const STOP_MS = 8800
/** Milliseconds that calls and streams have to finish when the server stops; then they end with an error. */
const CALLS_MS = 5000
/** Milliseconds that open requests have to finish; then their connections are closed, whatever state they are in. */
const DRAIN_MS = 7000
/** Milliseconds to close connections after that. */
const DRAIN_END_MS = 300
/** Milliseconds to write what is buffered. */
const FLUSH_MS = 500
/** Milliseconds to save the text index, as far as the others have left any; if it takes longer, the next start goes on from an older one. */
const SAVE_MS = 6000
/** Milliseconds to remove the agents of the demo. */
const DEMO_MS = 1000
/** Milliseconds that background work has to finish. */
const BACKGROUND_MS = 3000
/** Milliseconds between sweeps that close idle connections while draining. */
const IDLE_SWEEP_MS = 100

export interface LifecycleParts {
  readonly context: Context
  readonly identity: Identity
  readonly outcomes: Outcomes
  readonly calls: Calls
  readonly trust: Trust
  readonly limits: LimitParts
  readonly learning: Pick<Learning, 'start' | 'stop'>
  readonly probing: ProbeParts | undefined
  readonly crawling: CrawlParts | undefined
  readonly federation: Federation
  readonly mdns: Mdns | undefined
  readonly expiry: Expiry
  readonly wordIndexing: WordIndexing
  readonly engine: TextEngine
  readonly checks: ThreadChecks
  readonly subjects: SubjectData
  readonly http: Http
  /** Where in the store's change log to start following. */
  readonly cursor: string
}

export interface Lifecycle {
  listen(): Promise<string>
  /** Applies what other processes have written to the store until now. */
  catchUp(): Promise<void>
  close(): Promise<void>
}

/** Background work, and the order in which the parts start and stop. */
export function wireLifecycle(base: Base, parts: LifecycleParts): Lifecycle {
  const { config, store, now, storeStatus, log, metrics, traces, state, baseUrl, logError } = base
  const {
    context,
    identity,
    outcomes,
    calls,
    trust,
    limits,
    learning,
    probing,
    crawling,
    federation,
    mdns,
    expiry,
    wordIndexing,
    cursor,
  } = parts
  const { app, sockets, demo } = parts.http
  const { catalog, embeddings, abuse } = context
  identity.keys.onLastRevoked(calls.gateway.endCallsOf)
  const follower = followStore({
    context,
    cursor,
    intervalMs: POLL_MS,
    reloadKeys: identity.keys.reload,
    reloadGrants: identity.grants.reload,
    reloadSecrets: () => Promise.all([calls.credentials.reload(), identity.signing.reload()]),
    reloadTrust: () => Promise.all([trust.reload(), federation.peers.reload(), identity.sessions?.reload()]),
    reloadLimits: limits.limits.reload,
    onError: logError('could not read changes from the store'),
  })
  metrics.gauges({
    ready: () => (state.phase === 'ready' ? 1 : 0),
    feedLag: () => follower.lagMs() / 1000,
    degraded: () => (now() - (storeStatus.degradedSince ?? now())) / 1000,
  })
  const pruning = startPruning(context, config.audit.retentionDays, logError('could not prune the store'))

  let listening: Listening | undefined
  /** Lets open requests finish, and closes connections as they become idle: keep-alive must not delay the end. */
  const drain = async (): Promise<void> => {
    sockets.close()
    listening?.close()
    const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
    const endCalls = setTimeout(() => calls.gateway.stop(), CALLS_MS)
    const deadline = setTimeout(() => {
      sockets.terminate()
      app.server.closeAllConnections()
    }, DRAIN_MS)
    try {
      await Promise.all([app.close(), calls.tasks?.close()])
    } finally {
      clearInterval(sweep)
      clearTimeout(endCalls)
      clearTimeout(deadline)
    }
  }

  return {
    catchUp: follower.catchUp,
    async listen() {
      await Promise.all([limits.replicas.start(), wordIndexing.restore()])
      listening = await listenOn(app, config)
      const url = listening.url.replace(/\/$/, '')
      // Fastify reports http: for a server that it did not create itself.
      state.listening = config.tls ? url.replace(/^http:/, 'https:') : url
      state.phase = 'ready'
      wordIndexing.start()
      embeddings.start()
      abuse.start()
      calls.startTasks()
      trust.start()
      learning.start()
      probing?.start()
      crawling?.start()
      federation.start()
      mdns?.start()
      log.info({ url: state.listening, agents: catalog.index.size }, 'ready')
      return baseUrl()
    },
    async close() {
      const wasReady = state.phase === 'ready'
      state.phase = 'stopping'
      if (wasReady) await pause(config.shutdown.delayMs)
      expiry.stop()
      pruning.stop()
      abuse.stop()
      wordIndexing.stop()
      const stopInTime = createStopInTime({
        totalMs: STOP_MS,
        onCutOff: (part) => log.warn({ part }, 'a part did not stop in time and was cut off'),
        onError: (part, error) => logError('a part did not stop cleanly', { part })(error),
      })
      // Its agents remove themselves through the routes.
      await stopInTime('demo', demo.close, DEMO_MS)
      await Promise.all([
        stopInTime('checks of publishers', trust.stop, BACKGROUND_MS),
        stopInTime('reading from peers', federation.stop, BACKGROUND_MS),
        stopInTime('reading of operations', learning.stop, BACKGROUND_MS),
        stopInTime('probes of agents', async () => probing?.stop(), BACKGROUND_MS),
        stopInTime('advertisement', async () => mdns?.stop(), BACKGROUND_MS),
        stopInTime('crawling', async () => crawling?.stop(), BACKGROUND_MS),
        stopInTime('reading changes', follower.stop, BACKGROUND_MS),
        stopInTime('embedding model', embeddings.stop, BACKGROUND_MS),
        stopInTime('open requests', drain, DRAIN_MS + DRAIN_END_MS),
      ])
      await stopInTime('gateway', calls.gateway.close, DRAIN_END_MS)
      await Promise.all([
        stopInTime('audit log', context.trail.close, FLUSH_MS),
        stopInTime('call statistics', outcomes.close, FLUSH_MS),
        stopInTime('choices after searches', async () => context.choices?.close(), FLUSH_MS),
        stopInTime('calls of the day', limits.budgets.close, FLUSH_MS),
        stopInTime('limits shared with replicas', limits.replicas.stop, FLUSH_MS),
      ])
      await stopInTime('traces', async () => traces?.close(), FLUSH_MS)
      await stopInTime('erasures', parts.subjects.close, FLUSH_MS)
      await stopInTime('saving of the text index', wordIndexing.save, SAVE_MS)
      await stopInTime('text search', parts.engine.close, FLUSH_MS)
      parts.checks.close()
      await stopInTime('store', store.close)
      if (wasReady) log.info('stopped')
    },
  }
}
