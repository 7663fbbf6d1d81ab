import { createHash } from 'node:crypto'
import { type Config, isProduction, maxCallsPerCallerOf } from '../config/settings.js'
import { createGateway, type GatewayDeps } from '../gateway/create-gateway.js'
import type { Gateway } from '../gateway/gateway.js'
import { type AgentCredentials, createAgentCredentials } from '../services/calls/admission/agent-credentials.js'
import { createAgentTokens } from '../services/calls/admission/agent-tokens.js'
import type { StoredCredential } from '../services/calls/admission/choose-credential.js'
import { createLearnOperations } from '../services/calls/admission/learn-operations.js'
import { createInvoke, type Invoke } from '../services/calls/invoke.js'
import { createOutcomes, type Outcomes } from '../services/calls/outcomes/outcomes.js'
import { createTaskRunner, DEFERRED_TIMEOUT_MS } from '../services/calls/sending/defer-call.js'
import { createResultQuota } from '../services/calls/sending/result-quota.js'
import type { Context } from '../services/context.js'
import type { Agent, Catalog } from '../services/registry/catalog.js'
import { createSharedBuckets } from '../services/replicas/shared-buckets.js'
import { createSharedCounts } from '../services/replicas/shared-counts.js'
import { createCallback } from '../services/tasks/callback.js'
import { createTasks, MAX_OPEN_TASKS, MAX_TASK_BYTES, type Tasks } from '../services/tasks/tasks.js'
import type { Base } from './base.js'
import type { Identity } from './identity.js'
import type { Learning } from './learning.js'
import type { LimitParts } from './limits.js'

export interface Calls {
  readonly credentials: AgentCredentials
  readonly gateway: Gateway
  /** Undefined: without a secret to encrypt requests, calls cannot be deferred. */
  readonly tasks: Tasks | undefined
  readonly invoke: Invoke
  /** The same without the operator's credentials for agents, for calls that nobody requested. */
  readonly probe: Invoke
  /** Resumes deferred calls, if calls are enabled. */
  startTasks(): void
}

/** Statistics of calls, which also influence ranking. */
export async function wireOutcomes({ store, now, logError }: Base, catalog: Catalog): Promise<Outcomes> {
  const outcomes = await createOutcomes({
    store,
    now,
    isKnown: (id) => catalog.get(id) !== undefined,
    onError: logError('could not store call statistics'),
  })
  catalog.subscribe({ changed: outcomes.dropEarlier })
  return outcomes
}

/** The gateway: the only part that connects to addresses given by publishers and callers. */
export function wireGateway(
  { config, traces, monotonic, state, baseUrl }: Base,
  catalog: Catalog,
  outcomes: Outcomes,
  { limits, replicas }: LimitParts,
): Gateway {
  const { maxCallsPerAgent } = config.gateway
  const maxCallsPerCaller = maxCallsPerCallerOf(config.gateway)
  return openGateway(config, {
    maxCallsOf: (subject) => limits.of(subject, 'concurrent_calls')?.value ?? maxCallsPerCaller,
    maxCallsTo: (agent) => limits.ofAgent(agent, 'concurrent_calls') ?? maxCallsPerAgent,
    counts: { callers: createSharedCounts('caller', replicas), agents: createSharedCounts('agent', replicas) },
    monotonic,
    traces,
    self: () => [baseUrl(), ...(state.listening === undefined ? [] : [state.listening])],
    onOutcome: (id, operation, { ok, ms, status = 0 }) => {
      const agent = catalog.get(id)
      // A client error (4xx) says nothing about the agent.
      if (agent && !(status >= 400 && status < 500)) outcomes.record(agent, operation, { ok, ms })
    },
  })
}

/** What calls are made of. */
export interface CallParts {
  readonly identity: Identity
  readonly gateway: Gateway
  readonly limits: LimitParts
  readonly learning: Pick<Learning, 'read' | 'outdated'>
}

/** Invocations: credentials for agents, and deferred calls. */
export async function wireCalls(
  { config, log, metrics, now, monotonic, logError }: Base,
  context: Context,
  { identity, gateway, limits: parts, learning }: CallParts,
  credentialAtPeer: (agent: Agent) => StoredCredential | undefined,
): Promise<Calls> {
  const { seal, signing } = identity
  const { limits, budgets, replicas } = parts
  const credentials = await createAgentCredentials({
    context,
    seal,
    onUnreadable: (agent) =>
      log.warn({ agent }, 'cannot decrypt the credential for an agent: it was set with a different secret'),
    tokens: createAgentTokens({
      now,
      monotonic,
      onFailure: (agent, reason) => log.warn({ agent, reason }, 'could not obtain a token for an agent'),
    }),
  })
  context.catalog.subscribe({ changed: credentials.dropEarlier })
  const tasks =
    seal &&
    createTasks({
      context,
      seal,
      callBack: createCallback({ fetch: gateway.fetch, signing }),
      checkAddress: gateway.checkAddress,
      maxOpenOf: (subject) => limits.of(subject, 'open_tasks')?.value ?? MAX_OPEN_TASKS,
      maxBytesOf: (subject) => limits.of(subject, 'task_bytes')?.value ?? MAX_TASK_BYTES,
      onError: logError('could not process a deferred call'),
    })
  metrics.gauges({
    calls: () => gateway.load().calls,
    callQueue: () => gateway.load().waiting,
    taskQueue: () => tasks?.size,
  })
  const deps = {
    context,
    gateway,
    monotonic,
    timeoutMs: config.gateway.timeoutMs,
    maxResponseValues: config.gateway.maxResponseValues,
    strictOutputs: config.policy.strictOutputs,
    budgets,
    resultQuota: createResultQuota(config.gateway.maxStoredBytesPerCaller, monotonic, (name, options) =>
      createSharedBuckets(name, options, replicas),
    ),
    tasks,
    learnOperations: createLearnOperations({ read: learning.read, monotonic, onOutdated: learning.outdated }),
    storedCredential: (agent: Agent) => credentials.of(agent) ?? credentialAtPeer(agent),
  }
  return {
    credentials,
    gateway,
    tasks,
    invoke: createInvoke({ ...deps, enabled: config.gateway.enabled }),
    probe: createInvoke({
      ...deps,
      enabled: config.gateway.enabled,
      tasks: undefined,
      storedCredential: () => undefined,
    }),
    startTasks() {
      if (config.gateway.enabled) tasks?.start(createTaskRunner(deps))
    },
  }
}

function openGateway(config: Config, deps: GatewayDeps): Gateway {
  const { timeoutMs, allow, socketFolders, maxCalls, maxCallsPerAgent, maxResponseValues } = config.gateway
  const { publicUrl } = config
  // All replicas share one hop id: a call that comes back through another replica is a loop too.
  const hopId = publicUrl && `switchboard-${createHash('sha256').update(publicUrl).digest('hex').slice(0, 16)}`
  return createGateway(
    {
      timeoutMs,
      // Every call has its own deadline; this limit must not cut off the longest, those of deferred calls.
      firstByteMs: Math.max(timeoutMs, DEFERRED_TIMEOUT_MS),
      allow,
      socketFolders,
      maxCalls,
      maxCallsPerAgent,
      maxCallsPerCaller: maxCallsPerCallerOf(config.gateway),
      maxResponseValues,
      // In development, agents run on this machine without TLS.
      allowLoopback: !isProduction(config),
    },
    { ...deps, ...(hopId && { hopId }) },
  )
}
