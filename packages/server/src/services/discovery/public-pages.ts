import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import { isPrivate } from '../registry/hidden-agents.js'

/** Registration numbers in one page. */
const PAGE_NUMBERS = 512

/** The agents that everybody may see, in pages that stay the same while agents come and go. */
export interface PublicPages extends Required<Pick<CatalogListener, 'publicChanged'>> {
  /** Number of agents on all pages. */
  readonly size: number
  /** The numbers of the pages that have agents, ascending. */
  numbers(): number[]
  /** The agents of a page, in registration order. */
  agentsOn(page: number): Agent[]
}

export interface PublicPagesOptions {
  readonly catalog: Pick<Catalog, 'byNumber'>
  /** Whether the agent is listed, if it is not private. */
  readonly isListed: (agent: Agent) => boolean
}

/** Divides the agents by their registration numbers; a change concerns one page only. */
export function createPublicPages({ catalog, isListed }: PublicPagesOptions): PublicPages {
  const pages = new Map<number, Set<number>>()
  let size = 0
  return {
    publicChanged(number) {
      const page = Math.floor(number / PAGE_NUMBERS)
      const agent = catalog.byNumber(number)
      const agents = pages.get(page) ?? new Set()
      size -= agents.size
      if (agent && !isPrivate(agent) && isListed(agent)) agents.add(number)
      else agents.delete(number)
      size += agents.size
      if (agents.size > 0) pages.set(page, agents)
      else pages.delete(page)
    },
    get size() {
      return size
    },
    numbers: () => [...pages.keys()].sort((a, b) => a - b),
    agentsOn: (page) =>
      [...(pages.get(page) ?? [])].sort((a, b) => a - b).flatMap((number) => catalog.byNumber(number) ?? []),
  }
}
