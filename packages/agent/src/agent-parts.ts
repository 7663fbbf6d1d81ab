import { createPublisherSchemas, createSeenTokens, type JsonObject } from '@switchboard/protocol'
import { createRoutes } from './agent-routes.js'
import { createAuthenticator } from './auth/authenticate.js'
import { createAdmit } from './call/admit.js'
import { createAudit } from './call/audit.js'
import { createInvoke } from './call/invoke.js'
import { createOutgoingCalls } from './call/outgoing-calls.js'
import { createPerformer } from './call/perform.js'
import { createRateLimiter } from './call/rate-limiter.js'
import { createSessions } from './call/sessions.js'
import { createIssuerKeys } from './delegation/issuer-keys.js'
import { createVerifyChain } from './delegation/verify-chain.js'
import { toCard } from './descriptor/card.js'
import type { Description, Reach } from './descriptor/description.js'
import { createPublisher, type Published } from './descriptor/published.js'
import { AgentError } from './errors.js'
import { createResponder, type Respond } from './http/respond.js'
import { offersProtocol } from './optional-sdk.js'
import type { ErasedOptions } from './options.js'
import { type Runtime, SYSTEM } from './runtime.js'
import { createMessageSigner, publicKeyOf } from './signing/message-signer.js'
import { createMemoryTaskStore } from './tasks/memory-task-store.js'
import { createTasks } from './tasks/tasks.js'
import { createWebhook } from './tasks/webhook.js'
import { readVersions, type Versions } from './versions.js'
import { createUpgrades, type Upgrades } from './websocket/upgrades.js'

const MAX_BODY_BYTES = 1024 * 1024
const RATE_LIMIT = { calls: 600, seconds: 60 }
const MAX_CALLS = 100
/** Seconds. */
const DESCRIPTOR_MAX_AGE = 60

/** The parts of an agent that `createAgent` puts behind servers and registers in directories. */
export interface AgentParts {
  readonly runtime: Runtime
  readonly versions: Versions
  readonly respond: Respond
  readonly upgrades: Upgrades
  readonly publicKeys: readonly JsonObject[]
  readonly onError: (error: unknown) => void
  description(): Description
  describe(changes: Partial<Description>): void
  reach(): Reach
  setReach(changes: Partial<Reach>): void
  /** The descriptor, with endpoints below that base URL. */
  descriptor(base: string | undefined): Promise<JsonObject>
  /** Accepts no more calls, and aborts those in progress. */
  stop(): void
  close(): Promise<void>
}

/** The only place that wires the parts of an agent together. */
export function createParts(options: ErasedOptions): AgentParts {
  const runtime: Runtime = { ...SYSTEM, ...options.runtime }
  const { key, maxBodyBytes = MAX_BODY_BYTES, origins = [] } = options
  const onError = options.onError ?? ((error) => console.error(error))
  const { now, monotonic } = runtime
  const versions = readVersions(options.version, options.capabilities, options.olderVersions ?? {}, {
    description: options.description,
    tags: options.tags ?? [],
  })
  const authenticator = createAuthenticator(options.authentication, runtime)
  const rules = { allowPrivate: options.allowPrivate ?? false }
  const signer = key && createMessageSigner(key, now)
  if (options.signResponses && !signer) throw new AgentError('invalid_definition', 'signResponses needs a key')

  const offers = { a2a: offersProtocol('a2a', options.a2a), mcp: offersProtocol('mcp', options.mcp) }

  let about: Description = options
  let reach: Reach = {
    baseUrl: options.publicUrl?.replace(/\/+$/, ''),
    socket: undefined,
    schemes: authenticator.schemes,
    hasWebSocket: false,
    offers,
  }
  let isStopping = false

  const sessions = createSessions(monotonic, options.sessions)
  const identities = options.delegation?.identities ?? []
  const outgoing = createOutgoingCalls({
    runtime,
    options: options.outgoing ?? {},
    identity: (base) => identities[0] ?? base,
    ...(key && { key }),
  })
  const schemas = createPublisherSchemas()
  const recordCall = createAudit({ now, monotonic, audit: options.audit ?? (() => {}), onError })
  const admit = createAdmit({
    monotonic,
    schemas,
    limitRate: createRateLimiter(options.rateLimit ?? RATE_LIMIT, monotonic),
    verifyChain: createVerifyChain({
      required: options.delegation?.required ?? false,
      identities,
      keysOf: options.delegation?.keysOf ?? createIssuerKeys(monotonic, rules),
      seen: createSeenTokens({ now }),
      now,
    }),
    allow: options.allow ?? (() => true),
    recordCall,
  })
  const performer = createPerformer({
    runtime,
    schemas,
    sessions,
    admit,
    recordCall,
    onError,
    outgoing,
    checkOutput: options.checkOutput ?? 'warn',
    maxCalls: options.maxCalls ?? MAX_CALLS,
  })
  const webhook = createWebhook({
    runtime,
    agent: options.id ?? options.name,
    rules,
    onError,
    ...(signer && { signer }),
  })
  const store = options.taskStore ?? createMemoryTaskStore({ now, monotonic })
  const tasks = createTasks({ runtime, store, performer, webhook, onError })
  const invoke = createInvoke(performer, tasks, monotonic)

  const cardFor = (baseUrl: string | undefined): JsonObject =>
    toCard({
      description: about,
      versions,
      reach: { ...reach, baseUrl },
      sessionLifetime: sessions.lifetime,
      delegation: key !== undefined || options.delegation !== undefined,
    })
  const publish = createPublisher(now, key)
  const published = (base: string): Promise<Published> => {
    // An agent that only listens on a Unix socket has no URL to publish.
    const baseUrl = reach.baseUrl === undefined && reach.socket !== undefined ? undefined : base
    return publish(base, cardFor(baseUrl))
  }
  const routes = createRoutes({
    name: options.name,
    versions,
    performer,
    authenticator,
    runtime,
    invoke,
    tasks,
    key,
    maxBodyBytes,
    maxAge: options.descriptorMaxAge ?? DESCRIPTOR_MAX_AGE,
    card: () => cardFor(reach.baseUrl),
    descriptor: async (base) => (options.publishDescriptor === false ? undefined : published(base)),
    isStopping: () => isStopping,
    offers,
    ...(options.signResponses && signer && { signer }),
  })
  const { newId } = runtime
  const upgrades = createUpgrades({ versions, invoke, authenticator, origins, newId, maxLineLength: maxBodyBytes })

  return {
    runtime,
    versions,
    publicKeys: key ? [publicKeyOf(key)] : [],
    onError,
    respond: createResponder({ routes, newId, version: options.version, origins, onError }),
    upgrades,
    description: () => about,
    describe(changes) {
      about = { ...about, ...changes }
    },
    reach: () => reach,
    setReach(changes) {
      reach = { ...reach, ...changes }
    },
    descriptor: async (base) => (await published(base ?? 'http://localhost')).document,
    stop() {
      isStopping = true
      tasks.close()
      upgrades.close()
      routes.close()
    },
    close: () => outgoing.close(),
  }
}
