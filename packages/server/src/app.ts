import { createHash, randomUUID } from 'node:crypto'
import { createServer as createHttpsServer } from 'node:https'
import { createPublisherSchemas } from '@switchboard/protocol'
import { createBuiltInEmbedder, createOnnxFolderEmbedder } from '@switchboard/search'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerFactory,
  LogController,
} from 'fastify'
import { pino } from 'pino'
import { assertSafe, type Config, isProduction, type Settings, type TlsConfig, withDefaults } from './config.js'
import { createAdminRoutes } from './faces/admin/admin-routes.js'
import { type AdmitOptions, admit } from './faces/admit.js'
import { createAidipRoutes } from './faces/aidip/aidip-routes.js'
import { createDescriptorsRoutes } from './faces/descriptors/descriptors-routes.js'
import { createDirectoryRoutes } from './faces/directory/directory-routes.js'
import { createFeedbackRoutes } from './faces/feedback/feedback-routes.js'
import { createCallSockets } from './faces/invocation/call-sockets.js'
import { createInvocationRoutes } from './faces/invocation/invocation-routes.js'
import { routeUpgrades } from './faces/invocation/upgrades.js'
import { mountRoutes, requestIdOf } from './faces/mount.js'
import { toOpenApi } from './faces/openapi.js'
import { createOperationsRoutes } from './faces/operations/operations-routes.js'
import { createProfileRoutes } from './faces/profile/profile-routes.js'
import { createResolutionRoutes } from './faces/resolution/resolution-routes.js'
import type { RouteGroup } from './faces/route-group.js'
import { signAnswers } from './faces/sign-answers.js'
import { createTasksRoutes } from './faces/tasks/tasks-routes.js'
import { answerBadUrl, answerClientError } from './faces/unrouted-errors.js'
import type { Gateway } from './gateway/call.js'
import { createGateway, type GatewayDeps } from './gateway/create-gateway.js'
import { createRateLimits } from './policy/rate-limit.js'
import { createTaxonomy } from './policy/taxonomy.js'
import { checkDelegation } from './services/calls/admission/check-delegation.js'
import { createCredentials } from './services/calls/agent-credentials.js'
import { createInvoke } from './services/calls/invoke.js'
import { createLearnOperations } from './services/calls/learn-operations.js'
import { createOutcomes } from './services/calls/outcomes.js'
import { createTaskRunner, DEFERRED_TIMEOUT_MS } from './services/calls/sending/defer-call.js'
import type { Context } from './services/context.js'
import { createAbuseWatch, toWarnings } from './services/discovery/abuse-watch.js'
import { createEmbeddingQueue, type EmbeddingQueueOptions } from './services/discovery/embedding-queue.js'
import { createRemoteEmbedder } from './services/discovery/remote-embedder.js'
import { createAuthenticate } from './services/identity/authenticate.js'
import { createGrants } from './services/identity/grants.js'
import { createKeys, ensureAdminKey } from './services/identity/keys.js'
import { createSeal, type Seal } from './services/identity/seal.js'
import { createSigning } from './services/identity/signing.js'
import { createVerifyToken } from './services/identity/tokens.js'
import { createAuditTrail } from './services/operations/audit-trail.js'
import { startPruning } from './services/operations/prune.js'
import { type Catalog, createCatalog } from './services/registry/catalog.js'
import { createExpiry, type Expiry } from './services/registry/expire.js'
import { followStore } from './services/registry/follow.js'
import { createKeyedMutex } from './services/registry/keyed-mutex.js'
import { catchUpWords, loadAgents } from './services/registry/load.js'
import { createCallback } from './services/tasks/callback.js'
import { createTasks } from './services/tasks/tasks.js'
import { openPostgresStore } from './store/postgres/open-postgres-store.js'
import { openSqliteStore } from './store/sqlite/open-sqlite-store.js'
import { readSecret } from './store/sqlite/read-secret.js'
import type { Store } from './store/store.js'

/** The release, told in cards and in OpenAPI. */
export const VERSION = '0.1.0'

/** How often the store is asked what other processes changed. */
const FOLLOW_MS = 200
/** A request must have come in whole by then; long enough for a bulk import, no place for those who drip bytes. */
const REQUEST_MS = 300_000
/** Requests under way get this long to end when the server stops. */
const DRAIN_MS = 8000
/** How often, meanwhile, connections are closed that nothing is under way on. */
const IDLE_MS = 100

/** A directory: its HTTP application, and how to start and stop it. */
export interface Server {
  readonly app: FastifyInstance
  /** Resolves with the URL when requests are answered. */
  listen(): Promise<string>
  /** Answers what is under way, then lets go of the store. */
  close(): Promise<void>
  /** The administrator's key if it was made at this start; to be shown once. */
  readonly generatedAdminKey: string | undefined
}

/** What an embedder may put in place of the process's own. */
export interface ServerDeps {
  /** Milliseconds since 1970; everything that ends or is stamped goes by it. */
  readonly now?: () => number
}

/**
 * Embeds a directory.
 *
 * @example
 * const server = await createServer({ port: 0, data: './my-data' })
 * const url = await server.listen()
 * await fetch(`${url}/agents`)
 * await server.close()
 */
export async function createServer(settings: Settings = {}, { now = Date.now }: ServerDeps = {}): Promise<Server> {
  const config = withDefaults(settings)
  assertSafe(config)
  const log = createLog(config.logLevel)
  const store =
    config.database === undefined ? await openSqliteStore(config.data) : await openPostgresStore(config.database)
  try {
    return await wire(config, store, log, now)
  } catch (error) {
    await store.close()
    throw error
  }
}

async function wire(config: Config, store: Store, log: FastifyBaseLogger, now: () => number): Promise<Server> {
  const failed = (what: string) => (error: unknown) => log.error({ err: error }, what)
  const generatedAdminKey = await ensureAdminKey(store, config.adminKey, now())
  const keys = await createKeys(store, now)
  const grants = await createGrants(store, now)

  let listening: string | undefined
  const baseUrl = (): string => config.publicUrl ?? listening ?? `http://${config.host}:${config.port}`
  const expiry: Expiry = createExpiry(() => context, failed('an agent could not be expired'))
  const embeddings = createEmbeddingQueue({
    ...embedderOf(config),
    store,
    catalog: () => catalog,
    onError: failed('the model that tells meanings does not answer: words alone are searched'),
    onProgress: (progress) => log.info(progress, 'agents are made findable by meaning'),
  })
  const abuse = createAbuseWatch(({ record: { id }, owner }, codes) =>
    log.warn({ agent: id, owner, codes }, 'an agent loses rank'),
  )
  const catalog: Catalog = createCatalog({
    store,
    baseUrl,
    maxLifetime: config.lifetimes.max,
    rerankLimit: config.search.rerankLimit,
    now,
    onExpiry: expiry.watch,
    onChange: (agent, when) => {
      abuse.note(agent, when)
      embeddings.note(agent, when)
      outcomes.meet(agent)
      credentials.meet(agent)
    },
    onGone: abuse.forget,
    warningsOf: (agent) => toWarnings(abuse.findingsOf(agent)),
  })
  const outcomes = await createOutcomes({
    store,
    now,
    isKnown: (id) => catalog.get(id) !== undefined,
    onError: failed('what was learned from calls could not be stored'),
  })
  const context: Context = {
    store,
    reputationOf: config.search.learn ? outcomes.factorOf : () => 1,
    catalog,
    embeddings,
    abuse,
    searchByText: config.search.semantic,
    taxonomy: createTaxonomy(config.search.taxonomies),
    mutex: createKeyedMutex(),
    schemas: createPublisherSchemas(),
    trail: createAuditTrail(store, failed('calls could not be written to the audit')),
    policy: config.policy,
    grantsOf: grants.of,
    maxLifetime: config.lifetimes.max,
    production: isProduction(config),
    now,
    newId: randomUUID,
  }
  const seal = sealOf(config)
  const signing = await createSigning({ store, seal, now, onError: failed('a signing key could not be replaced') })
  const credentials = await createCredentials({
    context,
    seal,
    onUnreadable: (agent) => log.warn({ agent }, 'a credential was set with another secret and cannot be read'),
  })
  const cursor = await loadAgents(store, catalog)

  const gateway = openGateway(config, {
    now,
    self: () => [baseUrl(), ...(listening === undefined ? [] : [listening])],
    onOutcome: (id, operation, { ok, ms, status = 0 }) => {
      const agent = catalog.get(id)
      // What the caller did wrong says nothing of the agent.
      if (agent && !(status >= 400 && status < 500)) outcomes.record(agent, operation, { ok, ms })
    },
  })
  const tasks =
    seal &&
    createTasks({
      context,
      seal,
      callBack: createCallback({ fetch: gateway.fetch, signing }),
      checkAddress: gateway.checkAddress,
      onError: failed('a deferred call could not be worked on'),
    })
  const limits = createRateLimits(config.rateLimits, now)
  const calling = {
    context,
    gateway,
    timeoutMs: config.gateway.timeoutMs,
    strictOutputs: config.policy.strictOutputs,
    tasks,
    learnOperations: createLearnOperations({ fetch: gateway.fetch, now, newId: randomUUID }),
    keptCredential: credentials.of,
    checkDelegation,
  }
  const invoke = createInvoke({ ...calling, gateway: config.gateway.enabled ? gateway : undefined })
  const sockets = createCallSockets(config.gateway.maxInputBytes)

  const admission: AdmitOptions = {
    authenticate: createAuthenticate({
      keys,
      verifyToken: createVerifyToken(config.issuers, now),
      certificateScopes: config.certificates.scopes,
    }),
    limits,
    anonymous: config.anonymous,
    behindProxy: config.behindProxy,
    origins: config.cors.origins,
  }

  let state: 'starting' | 'ready' | 'stopping' = 'starting'
  const app = createApp(config, log, baseUrl)
  const faces: RouteGroup[] = [
    createAidipRoutes({ context, grants, outcomes }),
    createProfileRoutes({ context }),
    ...(config.resolution.enabled ? [createResolutionRoutes(context)] : []),
    createDirectoryRoutes({
      context,
      grants,
      onLongCredential: (subject, seconds) =>
        log.warn({ subject, seconds }, 'a credential lives far longer than the registration it makes'),
    }),
    createDescriptorsRoutes({ context, grants, signing, baseUrl, version: VERSION, anonymous: config.anonymous }),
    createAdminRoutes({ context, keys, grants, credentials, signing }),
    createFeedbackRoutes({ context, outcomes }),
    ...(tasks ? [createTasksRoutes(tasks)] : []),
    createInvocationRoutes({
      invoke,
      limits,
      sockets,
      maxInputBytes: config.gateway.maxInputBytes,
      admit: (request) => admit(request, admission),
    }),
    createOperationsRoutes({
      health: () => ({
        ready: state === 'ready',
        revision: catalog.revision,
        agents: catalog.index.size,
        pending: embeddings.pending,
      }),
      openapi: () => toOpenApi(faces, VERSION, baseUrl()),
    }),
  ]
  signAnswers(app, { signing, always: config.gateway.sign })
  mountRoutes(app, faces, { ...admission, baseUrl })

  routeUpgrades(app)

  const follower = followStore({
    context,
    cursor,
    intervalMs: FOLLOW_MS,
    reloadKeys: keys.reload,
    reloadGrants: grants.reload,
    reloadSecrets: () => Promise.all([credentials.reload(), signing.reload()]),
    onError: failed('the store could not be followed'),
  })
  const pruning = startPruning(context, config.audit.retentionDays, failed('the store could not be pruned'))

  return {
    app,
    generatedAdminKey,
    async listen() {
      const address = (await app.listen({ host: config.host, port: config.port })).replace(/\/$/, '')
      // Fastify does not look at what the server it was given speaks.
      listening = config.tls ? address.replace(/^http:/, 'https:') : address
      state = 'ready'
      catchUpWords(catalog)
      embeddings.start()
      abuse.start()
      if (config.gateway.enabled) tasks?.start(createTaskRunner(calling))
      log.info({ url: listening, agents: catalog.index.size }, 'ready')
      return baseUrl()
    },
    async close() {
      const served = state === 'ready'
      state = 'stopping'
      expiry.stop()
      pruning.stop()
      abuse.stop()
      await follower.stop()
      await embeddings.stop()
      // A connection whose request has been answered is kept open for the next one, which must not hold the end up.
      sockets.close()
      const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_MS)
      const late = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
      // Calls that were put off end beside those that somebody waits for.
      await Promise.all([app.close(), tasks?.close()])
      clearInterval(idle)
      clearTimeout(late)
      await gateway.close()
      await context.trail.close()
      await outcomes.close()
      await store.close()
      if (served) log.info('stopped')
    },
  }
}

/** By the operator's secret, or that of the data folder; replicas that share a database need the operator's. */
function sealOf({ secret, database, data }: Config): Seal | undefined {
  if (secret !== undefined) return createSeal(secret)
  return database === undefined ? createSeal(readSecret(data)) : undefined
}

/** Languages that the model which comes along knows. */
const BUILT_IN_LANGUAGES = ['en']

/** How the model is started that the operator chose; none where text is not searched at all. */
function embedderOf({ search: { semantic, embedder } }: Config): Pick<EmbeddingQueueOptions, 'open' | 'languages'> {
  if (!semantic || embedder === 'none') return { open: undefined, languages: [] }
  if (embedder === 'builtin') return { open: () => createBuiltInEmbedder(), languages: BUILT_IN_LANGUAGES }
  const languages = embedder.languages ?? 'all'
  if ('folder' in embedder) return { open: () => createOnnxFolderEmbedder(embedder.folder), languages }
  return { open: () => createRemoteEmbedder(embedder), languages }
}

/** The one that calls out; in development also on this machine, in the clear. */
function openGateway(config: Config, deps: GatewayDeps): Gateway {
  const { timeoutMs, allow, socketFolders, maxCalls, maxCallsPerAgent } = config.gateway
  const { publicUrl } = config
  // Replicas are one gateway to the outside: a call that comes back to another of them is a loop all the same.
  const hopId = publicUrl && `switchboard-${createHash('sha256').update(publicUrl).digest('hex').slice(0, 16)}`
  return createGateway(
    {
      timeoutMs,
      // Each call brings its own limit, and one that was put off a long one: none shall be cut off before it.
      firstByteMs: Math.max(timeoutMs, DEFERRED_TIMEOUT_MS),
      allow,
      socketFolders,
      maxCalls,
      maxCallsPerAgent,
      allowLoopback: !isProduction(config),
    },
    { ...deps, ...(hopId && { hopId }) },
  )
}

/** Lines of JSON on stderr; headers are not among them, so no secret is either. */
const createLog = (level: string): FastifyBaseLogger =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2))

function createApp({ tls, behindProxy }: Config, log: FastifyBaseLogger, baseUrl: () => string): FastifyInstance {
  return Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    // One hop: what the proxy itself saw, and not what a client wrote into X-Forwarded-For before it.
    trustProxy: behindProxy && ((_address, hop) => hop === 0),
    frameworkErrors: (error, request, reply) => answerBadUrl(error, request, reply, baseUrl()),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, baseUrl()),
    // Whoever has a connection open is answered to the end; new connections are not taken any more.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_MS,
    // An id of 512 characters may take many bytes when it is percent-encoded (C-31).
    routerOptions: { maxParamLength: 8192, ignoreTrailingSlash: true },
    // Bodies are gathered by our own limit, which lets the sender hear the answer.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    ...(tls && { serverFactory: tlsServerFactory(tls) }),
  })
}

/** HTTPS; with a client CA, certificates are asked for, and needed only if the operator says so. */
function tlsServerFactory({ cert, key, clientCa, clientRequired }: TlsConfig): FastifyServerFactory {
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: clientRequired }
  return (handler) => createHttpsServer({ cert, key, minVersion: 'TLSv1.2', ...client }, handler)
}
