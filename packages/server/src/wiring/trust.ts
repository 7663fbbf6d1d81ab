import { isProduction } from '../config.js'
import type { Gateway } from '../gateway/gateway.js'
import type { Catalog } from '../services/registry/catalog.js'
import { createCheckDomain } from '../services/trust/check-domain.js'
import { createCheckLease } from '../services/trust/check-lease.js'
import { createDomains, type Domains } from '../services/trust/domains.js'
import { createSchedule } from '../services/trust/schedule.js'
import { createSignerKeys } from '../services/trust/signer-keys.js'
import { createVerifySignature, type VerifySignature } from '../services/trust/verify-signature.js'
import type { Base } from './base.js'

/** Milliseconds between looks for checks that are due. */
const TICK_MS = 1000

export interface Trust {
  readonly verifySignature: VerifySignature
  readonly domains: Domains
  /** Reads what other replicas have changed. */
  reload(): Promise<void>
  /** Starts the checks that are made regularly. */
  start(): void
  stop(): Promise<void>
}

/** What the directory finds out for itself about agents and their publishers. */
export async function wireTrust(
  { config, store, now, monotonic, logError }: Base,
  catalog: Catalog,
  gateway: Gateway,
): Promise<Trust> {
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
  const checks = createSchedule((signal) => domains.checkDue(signal), TICK_MS, logError('could not check a domain'))
  return {
    verifySignature: createVerifySignature({ keysOf, now, httpLoopback }),
    domains,
    reload: domains.reload,
    start: checks.start,
    async stop() {
      await checks.stop()
      await lease.release()
    },
  }
}

const agentsOf = (catalog: Catalog, owner: string) =>
  Array.from(catalog.index.select({ conditions: [], view: ({ record }) => record })).filter(
    (agent) => agent.owner === owner,
  )
