import type { Agent, CatalogListener } from './catalog.js'

/** The agents of each owner, so that listing them does not visit those of others; subscribe it before agents are loaded. */
export interface OwnAgents extends Required<Pick<CatalogListener, 'changed' | 'removed'>> {
  /** One page of an owner's agents, by name: also those that only the owner sees. */
  list(
    owner: string,
    page: { readonly skip: number; readonly take: number },
  ): { readonly agents: readonly Agent[]; readonly total: number }
}

export function createOwnAgents(): OwnAgents {
  const byOwner = new Map<string, Map<number, Agent>>()

  const remove = ({ owner, number }: Agent): void => {
    const own = byOwner.get(owner)
    own?.delete(number)
    if (own?.size === 0) byOwner.delete(owner)
  }

  return {
    changed(agent, _when, before) {
      if (before && before.owner !== agent.owner) remove(before)
      const own = byOwner.get(agent.owner) ?? new Map<number, Agent>()
      byOwner.set(agent.owner, own.set(agent.number, agent))
    },
    removed: (_number, agent) => remove(agent),
    list(owner, { skip, take }) {
      const own = [...(byOwner.get(owner)?.values() ?? [])]
      own.sort((a, b) => (a.record.name < b.record.name ? -1 : a.record.name > b.record.name ? 1 : a.number - b.number))
      return { agents: own.slice(skip, skip + take), total: own.length }
    },
  }
}
