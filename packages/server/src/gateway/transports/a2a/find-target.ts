import type { CancelSignal } from '../../../cancellation.js'
import type { Endpoint } from '../../gateway.js'
import type { SendRequest } from '../../http/send-request.js'
import { createSwrCache } from '../../resilience/swr-cache.js'
import { unlessAborted, withTimeout } from '../../resilience/with-timeout.js'
import { factsIn } from './card-facts.js'
import { readCard } from './read-card.js'
import { type A2aTarget, targetOf } from './target.js'

const CARD_TIMEOUT_MS = 5000
/** Times in milliseconds. */
const CACHE = { freshMs: 600_000, usableMs: 86_400_000, failedMs: 60_000, limit: 2000 }

/** Finds out which version and binding of A2A the agent at an endpoint speaks. */
export type FindTarget = (endpoint: Endpoint, signal: CancelSignal) => Promise<A2aTarget>

/** Takes the version and binding from the registered document; if it has none, from the agent's own card. */
export function createFindTarget({
  sendRequest,
  monotonic,
}: {
  sendRequest: SendRequest
  monotonic: () => number
}): FindTarget {
  const targets = createSwrCache<A2aTarget>({ ...CACHE, monotonic })

  const find = async (endpoint: string): Promise<A2aTarget> => {
    const card = await withTimeout(CARD_TIMEOUT_MS, (signal) => readCard(sendRequest, endpoint, signal))
    const listed = card?.bindings.flatMap(
      ({ endpoint: url, source }) => targetOf({ url, ...(source && { source }) }) ?? [],
    )
    // The agent's credential may only go to the registered origin, whatever its card says.
    const { origin } = new URL(endpoint)
    const own = listed?.find(({ url }) => URL.canParse(url) && new URL(url).origin === origin)
    // Without a card, the oldest supported version; a missing A2A-Version header means the same.
    return own && card
      ? { ...own, card: factsIn(card.document) }
      : { version: '0.3', binding: 'jsonrpc', url: endpoint }
  }

  // All callers of an agent share one lookup, so none of them may abort it.
  return async (endpoint, signal) =>
    targetOf(endpoint) ??
    (await unlessAborted(
      targets.get(endpoint.url, () => find(endpoint.url)),
      signal,
    ))
}
