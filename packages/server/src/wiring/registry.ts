import type { TextEngine, ThreadChecks } from '@switchboard/search'
import type { GrantsOf } from '../policy/access.js'
import type { Quota } from '../policy/quota.js'
import { type AbuseWatch, createAbuseWatch } from '../services/discovery/abuse-watch.js'
import { isAvailable } from '../services/discovery/find.js'
import { createMcpServers, type McpServers } from '../services/discovery/mcp-servers.js'
import { createPublicListing, type PublicListing } from '../services/discovery/public-listing.js'
import { createPublicPages, type PublicPages } from '../services/discovery/public-pages.js'
import { type Agent, type Catalog, createCatalog } from '../services/registry/catalog.js'
import { createExpiry, type Expiry } from '../services/registry/expire.js'
import { createHiddenAgents, type HiddenAgents } from '../services/registry/hidden-agents.js'
import { createOwnAgents, type OwnAgents } from '../services/registry/own-agents.js'
import { createQuotas, type Quotas } from '../services/registry/quotas.js'
import type { Base } from './base.js'
import type { LimitParts } from './limits.js'

/** Milliseconds by which the clocks of replicas and database may differ without a warning. */
const TOLERATED_SKEW_MS = 5000

export interface Registry {
  readonly catalog: Catalog
  readonly hidden: HiddenAgents
  readonly listing: PublicListing
  readonly publicPages: PublicPages
  readonly mcpServers: McpServers
  readonly quotas: Quotas
  readonly ownAgents: OwnAgents
  readonly abuse: AbuseWatch
  readonly expiry: Expiry
}

/** The agents in memory, the checks of their documents, and their removal when they expire. */
export async function wireRegistry(
  base: Base,
  grantsOf: GrantsOf,
  parts: LimitParts,
  engine: TextEngine,
  checks: ThreadChecks,
): Promise<Registry> {
  const { limits, replicas } = parts
  const { config, store, storeStatus, log, metrics, now, monotonic, baseUrl, logError } = base
  const abuse = createAbuseWatch({
    checks,
    catalog: () => catalog,
    onFinding: ({ record: { id }, owner }, codes) =>
      log.warn({ agent: id, owner, codes }, 'an agent is ranked lower because of abuse findings'),
    onError: logError('an agent could not be checked for abuse'),
  })
  const catalog: Catalog = createCatalog({
    store,
    baseUrl,
    maxLifetime: config.lifetimes.max,
    engine,
    now,
    warningsOf: abuse.warningsOf,
  })
  const { index } = catalog
  metrics.gauges({
    agents: () => index.size,
    revision: () => catalog.revision,
    pendingWords: () => index.deferred,
    wordBytes: () => index.bytes.words,
    vectorBytes: () => index.bytes.vectors,
  })
  const clockAhead = await store.clockAhead()
  if (Math.abs(clockAhead) > TOLERATED_SKEW_MS) {
    log.warn(
      { aheadMs: Math.round(clockAhead) },
      'the clock of this machine differs from that of the database: synchronise them',
    )
  }
  const expiry = createExpiry({
    store,
    catalog,
    now,
    monotonic,
    clockAhead,
    syncedAt: () => storeStatus.syncedAt,
    onStep: (stepMs) =>
      log.warn({ stepMs: Math.round(stepMs) }, 'the clock was set; leases keep the time that they had left'),
    onError: logError('could not expire an agent'),
  })
  const hidden = createHiddenAgents(grantsOf, catalog)
  const isListed = ({ status }: Agent): boolean => isAvailable(status)
  const listing = createPublicListing({ catalog, baseUrl, isListed })
  const publicPages = createPublicPages({ catalog, isListed })
  const mcpServers = createMcpServers({ catalog, grantsOf })
  catalog.subscribe(hidden)
  catalog.subscribe(listing)
  catalog.subscribe(publicPages)
  catalog.subscribe(mcpServers)
  const quotaOf = (owner: string): Quota => ({
    agents: limits.of(owner, 'agents')?.value ?? config.quotas.agents,
    bytes: limits.of(owner, 'bytes')?.value ?? config.quotas.bytes,
  })
  const quotas = createQuotas({ quotaOf, isShared: () => replicas.count > 1 })
  const ownAgents = createOwnAgents()
  catalog.subscribe(quotas)
  catalog.subscribe(ownAgents)
  catalog.subscribe(abuse)
  catalog.subscribe(expiry)
  return { catalog, quotas, ownAgents, hidden, listing, publicPages, mcpServers, abuse, expiry }
}
