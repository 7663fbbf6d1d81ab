import type { Reviews } from '../../services/federation/review.js'
import type { RouteGroup } from '../route-group.js'
import { type FeedRoutesOptions, feedRoutes } from './feed-routes.js'
import { type PeerRoutesOptions, peerRoutes } from './peer-routes.js'
import { quarantineRoutes } from './quarantine-routes.js'

export interface FederationRoutesOptions extends FeedRoutesOptions, PeerRoutesOptions {
  readonly reviews: Reviews
}

/** Sharing agents with other directories. */
export const createFederationRoutes = (options: FederationRoutesOptions): RouteGroup => ({
  name: 'federation',
  summary: 'Agents of other directories',
  errors: 'application/json',
  routes: [...feedRoutes(options), ...peerRoutes(options), ...quarantineRoutes(options.reviews)],
})
