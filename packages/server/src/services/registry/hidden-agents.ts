import { type GrantsOf, viewOf } from '../../policy/access.js'
import { type Caller, hasScope, isAdmin } from '../../policy/caller.js'
import type { Agent, Catalog, CatalogListener } from './catalog.js'

/** The agents that strangers do not see at all, or see only a part of. */
export interface HiddenAgents extends Required<Pick<CatalogListener, 'changed' | 'removed'>> {
  /** Those of which the caller sees more than a stranger does, in registration order. */
  shownTo(caller: Caller): readonly Agent[]
}

/** Keeps them by owner, so that most callers need not be compared with all of them. */
export function createHiddenAgents(grantsOf: GrantsOf, catalog: Pick<Catalog, 'get' | 'byNumber'>): HiddenAgents {
  /** Owners by the number of the agent. */
  const owners = new Map<number, string>()
  const byOwner = new Map<string, Set<number>>()

  const drop = (number: number): void => {
    const owner = owners.get(number)
    if (owner === undefined) return
    owners.delete(number)
    const own = byOwner.get(owner)
    own?.delete(number)
    if (own?.size === 0) byOwner.delete(owner)
  }

  /** A superset of what the caller may see. */
  const candidates = (caller: Caller): Iterable<number> => {
    if (caller.subject === undefined) return []
    const grants = grantsOf(caller.subject)
    const mayBeAny = isAdmin(caller) || hasScope(caller, 'ct') || grants.some(({ tag }) => tag !== undefined)
    if (mayBeAny) return owners.keys()
    const granted = grants.flatMap(({ agent }) => (agent && catalog.get(agent.id)?.number) ?? [])
    return [...(byOwner.get(caller.subject) ?? []), ...granted]
  }

  return {
    changed(agent) {
      const { number, owner } = agent
      drop(number)
      if (!isPrivate(agent) && agent.shown === agent.record) return
      owners.set(number, owner)
      byOwner.set(owner, (byOwner.get(owner) ?? new Set()).add(number))
    },
    removed: drop,
    shownTo(caller) {
      const shown = new Set<Agent>()
      for (const number of candidates(caller)) {
        const agent = catalog.byNumber(number)
        const record = agent && viewOf(agent, caller, grantsOf)
        if (record && (isPrivate(agent) || record !== agent.shown)) shown.add(agent)
      }
      return [...shown].sort((a, b) => a.number - b.number)
    },
  }
}

export const isPrivate = ({ record }: Agent): boolean => record.visibility === 'private'
