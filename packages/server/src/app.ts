import { randomUUID } from 'node:crypto'
import { createPublisherSchemas } from '@switchboard/protocol'
import { createThreadChecks, type SearchThread, type TextTables } from '@switchboard/search'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { assertSafe, isProduction, type Settings, withDefaults } from './config/settings.js'
import { createTaxonomy } from './policy/taxonomy.js'
import type { Context } from './services/context.js'
import { createPageTokens } from './services/discovery/page-tokens.js'
import { createSearchCache } from './services/discovery/search-cache.js'
import { createAuditTrail } from './services/operations/audit-trail.js'
import type { StartDemo } from './services/operations/demo.js'
import { createSubjectData } from './services/operations/subject-data.js'
import { createKeyedMutex } from './services/registry/keyed-mutex.js'
import { loadAgents } from './services/registry/load.js'
import { createRevisions } from './services/replicas/revisions.js'
import { observeStore } from './store/observe-store.js'
import { openPostgresStore } from './store/postgres/open-postgres-store.js'
import { openSqliteStore } from './store/sqlite/open-sqlite-store.js'
import type { ExposedFile } from './store/sqlite/private-files.js'
import { createMetrics } from './telemetry/create-metrics.js'
import { createTraces } from './telemetry/create-traces.js'
import { type Base, createBase, createLog, createLoggedHealth } from './wiring/base.js'
import { wireCalls, wireGateway, wireOutcomes } from './wiring/calls.js'
import { wireCrawl } from './wiring/crawl.js'
import { assertModelFolder, openTextIndex, wireDiscovery, wireEngine, wireLexicon } from './wiring/discovery.js'
import { wireFederation, wirePeers } from './wiring/federation.js'
import { wireHttp } from './wiring/http.js'
import { wireIdentity } from './wiring/identity.js'
import { wireLearning } from './wiring/learning.js'
import { type Lifecycle, wireLifecycle } from './wiring/lifecycle.js'
import { wireLimits } from './wiring/limits.js'
import { wireMdns } from './wiring/mdns.js'
import { wireProbes } from './wiring/probes.js'
import { wireRegistry } from './wiring/registry.js'
import { wireTrust } from './wiring/trust.js'

/** The release. */
export const VERSION = '0.1.0'

/** A directory: its HTTP application, and how to start and stop it. */
export interface Server {
  readonly app: FastifyInstance
  /** Resolves with the URL once requests are served. */
  listen(): Promise<string>
  /** Finishes open requests, then closes the store. */
  close(): Promise<void>
  /** The administrator's key if it was generated at this start; show it once. */
  readonly generatedAdminKey: string | undefined
}

/** Replacements for what the process provides, such as in tests. */
export interface ServerDeps {
  /** Milliseconds since 1970; all timestamps and expiry times come from here. */
  readonly now?: () => number
  /** Milliseconds of a clock that is never set; all intervals are measured with it. */
  readonly monotonic?: () => number
  /** Starts the agents of the demo when an administrator asks for them; used in development mode only. */
  readonly startDemo?: StartDemo | undefined
  /** Default: the one that all directories of the process share. */
  readonly searchThread?: SearchThread | undefined
}

/**
 * Creates a directory to embed in another program.
 *
 * @example
 * const server = await createServer({ port: 0, data: './my-data' })
 * const url = await server.listen()
 * await fetch(`${url}/agents`)
 * await server.close()
 */
export async function createServer(
  settings: Settings = {},
  { now = Date.now, monotonic = () => performance.now(), startDemo, searchThread }: ServerDeps = {},
): Promise<Server> {
  const config = withDefaults(settings)
  assertSafe(config)
  await assertModelFolder(config)
  const log = createLog(config.logLevel)
  const health = createLoggedHealth(log, now)
  const store =
    config.database === undefined
      ? await openSqliteStore(config.data, { health, onExposed: logExposed(log) })
      : await openPostgresStore(config.database, { health })
  let textTables: TextTables | undefined
  try {
    textTables = await openTextIndex(config, health)
    const metrics = createMetrics(VERSION, now)
    const observed = observeStore(store, metrics.storeOperation)
    metrics.gauges({ writeQueue: observed.pendingWrites })
    const traces = await createTraces({
      otlp: config.telemetry.otlp,
      version: VERSION,
      onError: (error) => log.warn({ err: error }, 'spans cannot be sent to the OTLP receiver'),
      onRecovery: () => log.info('spans are sent to the OTLP receiver again'),
    })
    return await wire(
      createBase(config, { store: observed.store, health }, log, { metrics, traces }, { now, monotonic }),
      { startDemo, searchThread },
      textTables,
    )
  } catch (error) {
    await textTables?.close()
    await store.close()
    throw error
  }
}

const logExposed =
  (log: FastifyBaseLogger) =>
  ({ path, isFixed }: ExposedFile): void =>
    log.warn(
      { path },
      isFixed
        ? 'other users could read a file of the store; its permissions are now 0600'
        : 'other users can read a file of the store: set its permissions to 0600',
    )

async function wire(
  base: Base,
  { startDemo, searchThread }: Pick<ServerDeps, 'startDemo' | 'searchThread'>,
  textTables: TextTables | undefined,
): Promise<Server> {
  const { config, store, storeStatus, now, logError } = base
  const identity = await wireIdentity(base)
  const limits = await wireLimits(base)
  const lexicon = wireLexicon(config)
  const engine = wireEngine(base, { thread: searchThread, textTables })
  const checks = createThreadChecks(searchThread)
  const { catalog, quotas, ownAgents, hidden, listing, publicPages, mcpServers, abuse, expiry } = await wireRegistry(
    base,
    identity.grants.of,
    limits,
    engine,
    checks,
  )
  const { embeddings, wordIndexing, choices } = await wireDiscovery(base, catalog, engine, lexicon, limits)
  const outcomes = await wireOutcomes(base, catalog)
  const gateway = wireGateway(base, catalog, outcomes, limits)
  const trust = await wireTrust(base, catalog, gateway)
  const learning = await wireLearning(base, catalog, quotas, gateway)
  const peering = await wirePeers(base, identity, gateway)
  const context: Context = {
    store,
    storeStatus,
    catalog,
    hidden,
    quotas,
    ownAgents,
    embeddings,
    abuse,
    searchByText: config.search.semantic,
    searches: createSearchCache(() => catalog.index.version),
    taxonomy: createTaxonomy(config.search.taxonomies),
    mutex: createKeyedMutex(),
    metrics: base.metrics,
    traces: base.traces,
    schemas: createPublisherSchemas(),
    trail: createAuditTrail({
      store,
      now,
      addresses: config.audit.addresses,
      onError: logError('could not write audit entries'),
    }),
    reputationOf: config.search.learn ? outcomes.factorOf : () => 1,
    choices,
    availabilityOf: trust.availabilityOf,
    originFactorOf: peering.factorOf,
    policy: config.policy,
    grantsOf: identity.grants.of,
    verifySignature: trust.verifySignature,
    domains: trust.domains,
    maxLifetime: config.lifetimes.max,
    production: isProduction(config),
    now,
    newId: randomUUID,
  }
  const calls = await wireCalls(base, context, { identity, gateway, limits, learning }, peering.credentialOf)
  const probing = await wireProbes(base, catalog, calls.probe)
  const crawling = wireCrawl(base, context, gateway, VERSION)
  const federation = wireFederation(base, { context, identity, gateway, peering })
  const cursor = await loadAgents(store, catalog)
  const revisions = createRevisions({ monotonic: base.monotonic, catchUp: () => lifecycle.catchUp() })
  const subjects = createSubjectData({
    store,
    trail: context.trail,
    now,
    catchUp: () => lifecycle.catchUp(),
    endCalls: gateway.endCallsOf,
    onError: logError('could not erase what was written about an erased subject'),
  })
  const http = wireHttp(base, {
    context,
    listing,
    publicPages,
    pageTokens: await createPageTokens(store),
    mcpServers,
    identity,
    outcomes,
    calls,
    limits,
    trust,
    probing,
    crawling,
    revisions,
    federation,
    subjects,
    startDemo,
    version: VERSION,
  })
  const lifecycle: Lifecycle = wireLifecycle(base, {
    context,
    identity,
    trust,
    limits,
    learning,
    probing,
    crawling,
    federation,
    mdns: wireMdns(base, VERSION),
    outcomes,
    calls,
    expiry,
    wordIndexing,
    engine,
    checks,
    subjects,
    http,
    cursor,
  })
  return { app: http.app, generatedAdminKey: identity.generatedAdminKey, ...lifecycle }
}
