import { isProduction } from '../config/settings.js'
import type { Gateway } from '../gateway/gateway.js'
import type { Agent, Catalog } from '../services/registry/catalog.js'
import { createCheckDomain } from '../services/trust/check-domain.js'
import { createCheckEndpoint } from '../services/trust/check-endpoint.js'
import { type CheckLease, createCheckLease } from '../services/trust/check-lease.js'
import { createCheckQueue } from '../services/trust/check-queue.js'
import { createDomains, type Domains } from '../services/trust/domains.js'
import { createLiveness, type Liveness } from '../services/trust/liveness.js'
import { createSchedule } from '../services/trust/schedule.js'
import { createSharedResults } from '../services/trust/shared-results.js'
import { createSignatureChecks, type SignatureChecks } from '../services/trust/signature-checks.js'
import { createSignerKeys } from '../services/trust/signer-keys.js'
import { createVerifySignature, type VerifySignature } from '../services/trust/verify-signature.js'
import type { Base } from './base.js'

/** Milliseconds between looks for checks that are due. */
const TICK_MS = 1000

export interface Trust {
  readonly verifySignature: VerifySignature
  readonly domains: Domains
  /** Score factor of an agent, 0 to 1. */
  availabilityOf(agent: Agent): number
  /** Undefined if the operator has not enabled the checks. */
  readonly liveness: Pick<Liveness, 'healthOf'> | undefined
  /** Reads what other replicas have changed. */
  reload(): Promise<void>
  /** Starts the checks that are made regularly. */
  start(): void
  stop(): Promise<void>
}

/** What the directory finds out for itself about agents and their publishers. */
export async function wireTrust(base: Base, catalog: Catalog, gateway: Gateway): Promise<Trust> {
  const { config, store, now, monotonic, logError } = base
  // In development, agents and their keys are on this machine, without TLS.
  const httpLoopback = !isProduction(config)
  const keysOf = createSignerKeys({ fetch: gateway.fetch, monotonic, httpLoopback })
  const lease = createCheckLease({ store: store.trust, key: 'checks', now })
  const domains = await createDomains({
    store: store.trust,
    check: createCheckDomain(gateway),
    lease,
    now,
    httpLoopback,
    onChange: (owner, name) => {
      for (const { number, record } of agentsOf(catalog, owner))
        if (domains.nameOf(record.id) === name) catalog.review(number)
    },
  })
  catalog.subscribe({
    findings: (agent) => {
      const domain = domains.proofOf(agent)
      return domain ? { domain } : {}
    },
  })
  const liveness = await wireLiveness(base, catalog, gateway, lease)
  const verifySignature = createVerifySignature({ keysOf, now, httpLoopback })
  const signatures = await wireSignatures(base, catalog, verifySignature, lease)
  const schedules = [
    createSchedule(signatures.run, TICK_MS, logError('could not verify signatures again')),
    createSchedule((signal) => domains.checkDue(signal), TICK_MS, logError('could not check a domain')),
    ...(liveness ? [createSchedule(liveness.run, TICK_MS, logError('could not check agents'))] : []),
  ]
  return {
    verifySignature,
    domains,
    liveness,
    availabilityOf: (agent) => liveness?.factorOf(agent) ?? 1,
    reload: domains.reload,
    start() {
      for (const schedule of schedules) schedule.start()
    },
    async stop() {
      await Promise.all(schedules.map((schedule) => schedule.stop()))
      await lease.release()
    },
  }
}

async function wireSignatures(
  { config, store, now, monotonic }: Base,
  catalog: Catalog,
  verify: VerifySignature,
  lease: CheckLease,
): Promise<SignatureChecks> {
  const intervalMs = config.signatures.intervalSeconds * 1000
  const signatures = createSignatureChecks({
    catalog,
    verify,
    queue: createCheckQueue({ lease, intervalMs, monotonic }),
    results: await createSharedResults({ store: store.trust, kind: 'signature', now }),
    intervalMs,
    random: Math.random,
  })
  catalog.subscribe(signatures)
  return signatures
}

/** Undefined if the operator has not enabled the checks. */
async function wireLiveness(
  { config, store, now, monotonic }: Base,
  catalog: Catalog,
  { fetch }: Gateway,
  lease: CheckLease,
): Promise<Liveness | undefined> {
  if (!config.liveness.enabled) return undefined
  const intervalMs = config.liveness.intervalSeconds * 1000
  const liveness = createLiveness({
    catalog,
    check: createCheckEndpoint(fetch),
    queue: createCheckQueue({ lease, intervalMs, monotonic }),
    results: await createSharedResults({ store: store.trust, kind: 'health', now }),
    intervalMs,
    now,
    random: Math.random,
  })
  catalog.subscribe(liveness)
  return liveness
}

const agentsOf = (catalog: Catalog, owner: string) =>
  Array.from(catalog.index.select({ conditions: [], view: ({ record }) => record })).filter(
    (agent) => agent.owner === owner,
  )
