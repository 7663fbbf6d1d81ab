import { LRUCache } from 'lru-cache'

/** Characters of all cached views together; a character takes one byte, or two outside Latin-1. */
const MAX_LENGTH = 32 * 1024 * 1024
/** What an entry costs besides its text, in characters. */
const ENTRY_LENGTH = 200

/** JSON texts of agents' views, rendered on first use: an agent is read far more often than it changes. */
export interface ViewCache {
  get(agent: Rendered, view: string): string | undefined
  set(agent: Rendered, view: string, text: string): void
  /** Drops the views of an agent. */
  clear(agent: Rendered): void
}

/** What identifies the state of an agent that a view shows. */
interface Rendered {
  readonly serial: number
}

/**
 * Creates a cache for the views of all agents, of bounded size: without a bound, one client that reads every view of every
 * agent would fill the memory. The least recently used views are dropped first.
 */
export function createViewCache(maxLength = MAX_LENGTH): ViewCache {
  const texts = new LRUCache<string, string>({
    maxSize: maxLength,
    sizeCalculation: ({ length }) => length + ENTRY_LENGTH,
  })
  /** Later serials of agents whose views were dropped: numbering is cheaper than finding their entries. */
  const generations = new WeakMap<Rendered, number>()
  const keyOf = (agent: Rendered, view: string): string => `${agent.serial}.${generations.get(agent) ?? 0} ${view}`
  return {
    get: (agent, view) => texts.get(keyOf(agent, view)),
    set: (agent, view, text) => void texts.set(keyOf(agent, view), text),
    clear: (agent) => void generations.set(agent, (generations.get(agent) ?? 0) + 1),
  }
}
