import type { Endpoint } from '../../gateway.js'
import { createSwrCache } from '../../resilience/swr-cache.js'
import type { Ask } from '../rpc/ask.js'
import { unlessAborted, withTimeLimit } from '../rpc/time-limit.js'
import { readCard } from './read-card.js'
import { type A2aTarget, targetOf } from './target.js'

const CARD_TIMEOUT_MS = 5000
const REMEMBER = { freshMs: 600_000, usableMs: 86_400_000, failedMs: 60_000, limit: 2000 }

/** How the agent at the end of a way is spoken to. */
export type FindTarget = (endpoint: Endpoint, signal: AbortSignal) => Promise<A2aTarget>

/** Asks the agent's own card where the registered document says no more than the address. */
export function createFindTarget({ ask, now }: { ask: Ask; now: () => number }): FindTarget {
  const targets = createSwrCache<A2aTarget>({ ...REMEMBER, now })

  const find = async (endpoint: string): Promise<A2aTarget> => {
    const card = await withTimeLimit(CARD_TIMEOUT_MS, (signal) => readCard(ask, endpoint, signal))
    const told = card?.bindings.flatMap(
      ({ endpoint: url, source }) => targetOf({ url, ...(source && { source }) }) ?? [],
    )
    // The agent's credential goes to the host that was registered, wherever its card points.
    const { origin } = new URL(endpoint)
    const own = told?.find(({ url }) => URL.canParse(url) && new URL(url).origin === origin)
    // Without a card the oldest that is still spoken; it is also what a missing A2A-Version header stands for.
    return own ?? { version: '0.3', binding: 'jsonrpc', url: endpoint }
  }

  // The question is shared by all who call that agent, so none of them may end it for the others.
  return async (endpoint, signal) =>
    targetOf(endpoint) ??
    (await unlessAborted(
      targets.get(endpoint.url, () => find(endpoint.url)),
      signal,
    ))
}
