import { type AbuseWatch, createAbuseWatch } from '../services/discovery/abuse-watch.js'
import { type Catalog, createCatalog } from '../services/registry/catalog.js'
import { createExpiry, type Expiry } from '../services/registry/expire.js'
import type { Base } from './base.js'

export interface Registry {
  readonly catalog: Catalog
  readonly abuse: AbuseWatch
  readonly expiry: Expiry
}

/** The agents in memory, the checks of their documents, and their removal when they expire. */
export function wireRegistry({ config, store, log, now, baseUrl, logError }: Base): Registry {
  const abuse = createAbuseWatch(({ record: { id }, owner }, codes) =>
    log.warn({ agent: id, owner, codes }, 'an agent is ranked lower because of abuse findings'),
  )
  const catalog = createCatalog({
    store,
    baseUrl,
    maxLifetime: config.lifetimes.max,
    rerankLimit: config.search.rerankLimit,
    now,
    warningsOf: abuse.warningsOf,
  })
  const expiry = createExpiry({ store, catalog, now, onError: logError('could not expire an agent') })
  catalog.subscribe(abuse)
  catalog.subscribe(expiry)
  return { catalog, abuse, expiry }
}
