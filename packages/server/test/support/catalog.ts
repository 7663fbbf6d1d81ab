import { type Catalog, createCatalog } from '../../src/services/registry/catalog.js'
import type { Store } from '../../src/store/store.js'

/** A catalog for services that are tested without a server. */
export const testCatalog = (store: Pick<Store, 'get'>, now: () => number = Date.now): Catalog =>
  createCatalog({
    store,
    baseUrl: () => 'http://directory.example',
    maxLifetime: 60,
    now,
    warningsOf: () => [],
  })
