import fastifyStatic from '@fastify/static'
import { toRequestId } from '@switchboard/protocol'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { createA2aRoutes } from '../faces/a2a/a2a-routes.js'
import { createAdminRoutes } from '../faces/admin/admin-routes.js'
import { createDemoRoutes } from '../faces/admin/demo-routes.js'
import { type AdmitOptions, admit } from '../faces/admit.js'
import { createAidipRoutes } from '../faces/aidip/aidip-routes.js'
import { createArdRoutes, createManifestRoutes } from '../faces/ard/ard-routes.js'
import { createConsoleRoutes } from '../faces/console/console-routes.js'
import { createCrawlRoutes } from '../faces/crawl/crawl-routes.js'
import { createDescriptorsRoutes } from '../faces/descriptors/descriptors-routes.js'
import { createDirectoryRoutes } from '../faces/directory/directory-routes.js'
import { createDocsRoutes } from '../faces/docs/docs-routes.js'
import { createFederationRoutes } from '../faces/federation/federation-routes.js'
import { createFeedbackRoutes } from '../faces/feedback/feedback-routes.js'
import { type CallSockets, createCallSockets } from '../faces/invocation/call-sockets.js'
import { createInvocationRoutes } from '../faces/invocation/invocation-routes.js'
import { routeUpgrades } from '../faces/invocation/upgrades.js'
import { limitConnections } from '../faces/limit-connections.js'
import { createLimitsRoutes } from '../faces/limits/limits-routes.js'
import { createMcpRegistryRoutes } from '../faces/mcp/mcp-registry-routes.js'
import { type AnswerMcp, createMcpRoutes } from '../faces/mcp/mcp-routes.js'
import { mountRoutes } from '../faces/mount.js'
import { createOpenApi } from '../faces/openapi.js'
import { createOperationsRoutes } from '../faces/operations/operations-routes.js'
import { createOwnRoutes } from '../faces/own/own-routes.js'
import { createOwnFetch } from '../faces/own-fetch.js'
import { createPreviewRoutes } from '../faces/preview/preview-routes.js'
import { createProfileRoutes } from '../faces/profile/profile-routes.js'
import { createProtectedResourceRoutes } from '../faces/protected-resource.js'
import { createRequestLog } from '../faces/request-log.js'
import { createResolutionRoutes } from '../faces/resolution/resolution-routes.js'
import type { RouteGroup } from '../faces/route-group.js'
import { sendBadUrlError, sendClientError } from '../faces/send-unrouted-error.js'
import { createSessionCookies } from '../faces/session/session-cookies.js'
import { createSessionRoutes } from '../faces/session/session-routes.js'
import { signResponses } from '../faces/sign-responses.js'
import { createTasksRoutes } from '../faces/tasks/tasks-routes.js'
import { createDomainRoutes } from '../faces/trust/domain-routes.js'
import { createProbeRoutes } from '../faces/trust/probe-routes.js'
import { createTransferRoutes } from '../faces/trust/transfer-routes.js'
import { knownScopes, subjectOfClient } from '../policy/caller.js'
import { createRateLimits, type OwnRate } from '../policy/rate-limit.js'
import type { Outcomes } from '../services/calls/outcomes/outcomes.js'
import type { Context } from '../services/context.js'
import type { McpServers } from '../services/discovery/mcp-servers.js'
import type { PageTokens } from '../services/discovery/page-tokens.js'
import type { PublicListing } from '../services/discovery/public-listing.js'
import type { PublicPages } from '../services/discovery/public-pages.js'
import { createDemo, type DemoRun, type StartDemo } from '../services/operations/demo.js'
import type { Limits } from '../services/operations/limits.js'
import type { LimitedClient } from '../services/operations/refusals.js'
import type { SubjectData } from '../services/operations/subject-data.js'
import { createAgentCards } from '../services/registry/agent-cards.js'
import type { Revisions } from '../services/replicas/revisions.js'
import { createSharedBuckets } from '../services/replicas/shared-buckets.js'
import type { Base } from './base.js'
import type { Calls } from './calls.js'
import type { CrawlParts } from './crawl.js'
import type { Federation } from './federation.js'
import type { Identity } from './identity.js'
import type { LimitParts } from './limits.js'
import { wireOpenId } from './openid.js'
import { wireOperate } from './operate.js'
import type { ProbeParts } from './probes.js'
import { createTlsServerFactory } from './tls-server.js'
import type { Trust } from './trust.js'

/** Milliseconds in which a request must arrive completely: enough for a bulk import, and a limit for slow senders. */
const REQUEST_TIMEOUT_MS = 300_000

export interface HttpParts {
  readonly context: Context
  readonly listing: PublicListing
  readonly publicPages: PublicPages
  readonly pageTokens: PageTokens
  readonly mcpServers: McpServers
  readonly identity: Identity
  readonly outcomes: Outcomes
  readonly calls: Calls
  readonly limits: LimitParts
  readonly trust: Trust
  readonly probing: ProbeParts | undefined
  readonly crawling: CrawlParts | undefined
  readonly revisions: Revisions
  readonly federation: Federation
  readonly subjects: SubjectData
  readonly startDemo: StartDemo | undefined
  /** The release, shown in cards and in OpenAPI. */
  readonly version: string
}

export interface Http {
  readonly app: FastifyInstance
  /** Open WebSocket calls. */
  readonly sockets: CallSockets
  readonly demo: DemoRun
}

/** The HTTP application with the routes of all drafts. */
export function wireHttp(base: Base, parts: HttpParts): Http {
  const { context, listing, mcpServers, identity, outcomes, calls, probing, crawling, federation, version } = parts
  const { limits, budgets, replicas, refusals, defaults } = parts.limits
  const { config, storeStatus, log, metrics, traces, monotonic, state, baseUrl } = base
  const { grants, keys, signing } = identity
  const { catalog, embeddings } = context
  const { invoke, credentials, tasks } = calls
  const rates = createRateLimits(config.rateLimits, {
    monotonic,
    ownRate: ownRate(limits),
    createBuckets: (name, options) => createSharedBuckets(name, options, replicas),
    onRefused: (action, client) => refusals.note(`${action}_per_minute`, limitedClient(client)),
  })
  const { production, now } = context
  const cookies = createSessionCookies({ sessions: identity.sessions, secure: production, baseUrl, now })
  const admission: AdmitOptions = {
    authenticate: identity.authenticate,
    sessions: cookies,
    limits: rates,
    revisions: parts.revisions,
    trail: context.trail,
    onCaller: limits.meet,
    anonymous: config.anonymous,
    behindProxy: config.behindProxy,
    origins: config.cors.origins,
    metricsToken: config.metricsToken,
  }
  const { maxInputBytes, maxInputValues } = config.gateway
  const sockets = createCallSockets({ maxInputBytes, maxInputValues })

  const answerMcp: AnswerMcp = async (request, body, caller) => {
    // Loaded when first needed: the SDK takes a while to load, and memory.
    const { handleMcp } = await import('@switchboard/mcp')
    return handleMcp(request, body, { baseUrl: baseUrl(), fetch: createOwnFetch(app, caller) })
  }

  const cards = createAgentCards({ catalog, signing, baseUrl, hasGateway: config.gateway.enabled })

  const demo = createDemo({
    context,
    start: parts.startDemo,
    connect: (caller) => ({ baseUrl: baseUrl(), fetch: createOwnFetch(app, caller) }),
    onError: base.logError('an agent of the demo could not renew its registration'),
  })

  const groups: RouteGroup[] = [
    createAidipRoutes({ context, outcomes, fanOut: federation.fanOut }),
    createProfileRoutes({ context, fanOut: federation.fanOut }),
    ...(config.resolution.enabled ? [createResolutionRoutes(context)] : []),
    createDirectoryRoutes({
      context,
      onLongCredential: (subject, seconds) =>
        log.warn({ subject, seconds }, 'a credential is valid for much longer than the registration made with it'),
    }),
    createDescriptorsRoutes({ context, listing, signing, cards, baseUrl, version, anonymous: config.anonymous }),
    createManifestRoutes({ context, baseUrl, pages: parts.publicPages }),
    createArdRoutes({ context, baseUrl, pages: parts.publicPages, tokens: parts.pageTokens, ...federation }),
    createAdminRoutes({ context, keys, grants, credentials, signing, subjects: parts.subjects }),
    createDemoRoutes(demo),
    createProtectedResourceRoutes({
      baseUrl,
      issuers: config.issuers.map(({ issuer }) => issuer),
      scopes: knownScopes(config.policy),
      clientCertificates: config.tls?.clientCa !== undefined,
    }),
    createSessionRoutes({
      sessions: identity.sessions,
      cookies,
      trail: context.trail,
      openid: wireOpenId(base, parts, cookies),
      production,
      version,
    }),
    createFeedbackRoutes({ context, outcomes }),
    createLimitsRoutes({
      limits,
      budgets,
      rates,
      defaults,
      async usedBy(subject) {
        // Without the store, the other limits can still be shown.
        const used = await context.store.tasks.usage(subject).catch(() => undefined)
        return {
          concurrent_calls: calls.gateway.callsOf(subject),
          ...(used && { open_tasks: used.open, task_bytes: used.bytes }),
          ...context.quotas.usageOf(subject),
        }
      },
    }),
    wireOperate(base, parts),
    createPreviewRoutes(context, cards),
    createOwnRoutes({ context, keys, tasks }),
    createDomainRoutes(context.domains),
    createFederationRoutes({ context, baseUrl, ...federation }),
    createTransferRoutes(context),
    ...(probing ? [createProbeRoutes(context, probing.probes)] : []),
    ...(crawling ? [createCrawlRoutes(crawling.crawler)] : []),
    ...(tasks ? [createTasksRoutes(tasks)] : []),
    createInvocationRoutes({
      invoke,
      limits: rates,
      sockets,
      maxInputBytes,
      maxInputValues,
      admit: (request) => admit(request, admission),
    }),
    createA2aRoutes({ context, invoke, tasks, limits: rates, baseUrl, maxInputBytes, maxInputValues }),
    createMcpRoutes({ answer: answerMcp, baseUrl, maxInputBytes, maxInputValues }),
    createMcpRegistryRoutes({ context, servers: mcpServers }),
    createOperationsRoutes({
      health: () => ({
        ready: state.phase === 'ready',
        degradedSince: storeStatus.degradedSince,
        revision: catalog.revision,
        agents: catalog.index.size,
        pending: Math.max(embeddings.pending, catalog.index.deferred),
      }),
      openapi: () => openapi(baseUrl()),
      metrics,
    }),
    ...(config.console.enabled ? [createConsoleRoutes({ baseUrl })] : []),
    createDocsRoutes(),
  ]

  const openapi = createOpenApi(groups, version)
  const app = createApp(base)
  // For `reply.sendFile`; the routes say which file of which folder.
  app.register(fastifyStatic, { serve: false, preCompressed: true })
  const { connections, behindProxy } = config
  const openConnections = limitConnections(
    app.server,
    { ...connections, maxPerAddress: behindProxy ? undefined : connections.maxPerAddress },
    log,
  )
  metrics.gauges({ connections: openConnections })
  signResponses(app, { signing, always: config.gateway.sign })
  const isStopping = (): boolean => state.phase === 'stopping'
  mountRoutes(app, groups, {
    ...admission,
    isStopping,
    metrics,
    traces,
    accessLog: config.accessLog,
    baseUrl,
    warnings: storeStatus.warnings,
  })
  routeUpgrades(app)
  return { app, sockets, demo }
}

/** The limits of requests that the operator has set for a client. */
const ownRate =
  (limits: Limits): OwnRate =>
  (action, client) => {
    const subject = subjectOfClient(client)
    return subject === undefined ? undefined : limits.of(subject, `${action}_per_minute`)?.value
  }

/** A client as `clientOf` writes it. */
function limitedClient(client: string): LimitedClient {
  const subject = subjectOfClient(client)
  return subject === undefined
    ? { kind: 'address', name: client.slice('address '.length) }
    : { kind: 'subject', name: subject }
}

function createApp({ config, log, baseUrl, logError }: Base): FastifyInstance {
  const { tls, behindProxy } = config
  return Fastify({
    loggerInstance: log,
    childLoggerFactory: createRequestLog,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => toRequestId(headers['x-request-id']),
    // Trust one hop, our proxy: what a client wrote into X-Forwarded-For before it does not count.
    trustProxy: behindProxy && ((_address, hop) => hop === 0),
    frameworkErrors: (error, request, reply) => sendBadUrlError(error, request, reply, baseUrl()),
    clientErrorHandler: (error, socket) => sendClientError(error, socket, baseUrl()),
    // While closing, requests on open connections are still served; new connections are refused.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
    // An id of 512 characters can be several times as long when percent-encoded (C-31).
    routerOptions: { maxParamLength: 8192, ignoreTrailingSlash: true },
    // collectBody enforces its own limit, in a way that lets the sender read the error response.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    ...(tls && {
      serverFactory: createTlsServerFactory({
        ...tls,
        onReload: () => log.info('the list of revoked client certificates has changed'),
        onReloadError: logError(
          'could not read the list of revoked client certificates; the one before stays in force',
        ),
      }),
    }),
  })
}
