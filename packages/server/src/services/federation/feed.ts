import { type GrantsOf, maySee, viewOf } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import type { Readable } from '../registry/read.js'
import { type FeedCursor, parseCursor, writeCursor } from './feed-cursor.js'

/** Changes of the agents that a caller may see, for other directories: what is registered here, and signed copies. */
export interface Feed extends Required<Pick<CatalogListener, 'changed' | 'removed'>> {
  page(request: FeedRequest): FeedPage
}

export interface FeedRequest {
  /** Where the page before ended; undefined: all agents. */
  readonly since: string | undefined
  readonly limit: number
  readonly caller: Caller
}

export interface FeedPage {
  readonly agents: readonly Readable[]
  /** Ids of agents that are gone, or that the caller may not see any more. */
  readonly removed: readonly string[]
  /** The page is part of a complete list: what is not in the list is gone. */
  readonly full: boolean
  /** Whether there is another page already. */
  readonly more: boolean
  readonly cursor: string
  /** The cursor of a page that ends with this agent. */
  readonly cursorAfter: (agent: Agent) => string
}

export interface FeedOptions {
  readonly catalog: Pick<Catalog, 'index' | 'byNumber' | 'get'>
  readonly grantsOf: GrantsOf
  /** Whether the agent may be passed on to other directories. */
  readonly isExported: (agent: Agent) => boolean
  readonly now: () => number
}

/**
 * Milliseconds before a cursor that are sent again: replicas learn of a change at slightly different times, and their
 * clocks differ. Receivers recognise what they have.
 */
const OVERLAP_MS = 30_000
/** Milliseconds after the start of this process in which removals by other replicas may be unknown. */
const SETTLING_MS = 5000
/** Removals that are remembered. Whoever missed more reads the complete list again. */
const MAX_REMOVED = 10_000
/** Registration numbers that one page looks at: hidden and removed agents leave gaps. */
const MAX_STEPS = 20_000

/** Creates the feed; subscribe it before agents are loaded. */
export function createFeed({ catalog, grantsOf, isExported, now }: FeedOptions): Feed {
  /** Agents that were removed or hidden, oldest first. */
  const removals: { readonly at: number; readonly agent: Removed }[] = []
  /** Removals before this time are unknown. */
  let horizon = now() + SETTLING_MS
  let lastNumber = 0

  const noteRemoval = (agent: Agent): void => {
    if (!isExported(agent)) return
    removals.push({ at: now(), agent: toRemoved(agent) })
    if (removals.length <= MAX_REMOVED) return
    const [dropped] = removals.splice(0, 1)
    horizon = Math.max(horizon, dropped?.at ?? 0)
  }

  const read = (agent: Agent | undefined, caller: Caller): Readable[] => {
    const record = agent && isExported(agent) ? viewOf(agent, caller, grantsOf) : undefined
    // A copy is passed on as its origin signed it, or not at all.
    const isWhole = agent?.stored.marks.origin === undefined || record === agent.record
    return agent && record && isWhole ? [{ agent, record }] : []
  }

  const list = ({ limit, caller }: FeedRequest, { at, number }: Pick<FeedCursor, 'at' | 'number'>): FeedPage => {
    const found: Readable[] = []
    const end = Math.min(lastNumber, number + MAX_STEPS)
    let reached = number
    // One more than requested: whether there is more must not depend on agents that the caller may not see.
    while (reached < end && found.length <= limit) found.push(...read(catalog.byNumber(++reached), caller))
    const agents = found.slice(0, limit)
    const cursorAfter = (agent: { readonly number: number }): string =>
      writeCursor({ kind: 'list', at, number: agent.number })
    const last = found.length > limit ? agents.at(-1)?.agent : undefined
    const next = last ?? (reached < lastNumber ? { number: reached } : undefined)
    return {
      agents,
      removed: [],
      full: true,
      more: next !== undefined,
      cursor: next ? cursorAfter(next) : writeCursor({ kind: 'end', at, number: 0 }),
      cursorAfter,
    }
  }

  const changes = ({ limit, caller }: FeedRequest, cursor: FeedCursor): FeedPage => {
    const isNext = cursor.kind === 'page'
    const isDue = (agent: Agent): boolean => {
      const at = changedAt(agent)
      return isNext
        ? at > cursor.at || (at === cursor.at && agent.number > cursor.number)
        : at >= cursor.at - OVERLAP_MS
    }
    const view = (agent: Agent) => viewOf(agent, caller, grantsOf)
    const due = Array.from(catalog.index.select({ conditions: [], view }))
      .filter(isDue)
      .flatMap((agent) => read(agent, caller))
    due.sort((a, b) => changedAt(a.agent) - changedAt(b.agent) || a.agent.number - b.agent.number)
    const agents = due.slice(0, limit)
    const more = due.length > limit
    const last = agents.at(-1)?.agent
    const at = Math.max(cursor.at, last ? changedAt(last) : 0)
    const cursorAfter = (agent: Agent): string =>
      writeCursor({ kind: 'page', at: changedAt(agent), number: agent.number })
    return {
      agents,
      removed: isNext ? [] : removedSince(cursor.at - OVERLAP_MS, caller),
      full: false,
      more,
      cursor: more && last ? cursorAfter(last) : writeCursor({ kind: 'end', at, number: 0 }),
      cursorAfter,
    }
  }

  /** Only agents that the caller could see: nobody else may learn that they existed. */
  const removedSince = (since: number, caller: Caller): string[] => {
    const ids = removals
      .filter(({ at, agent }) => at >= since && maySee(agent, caller, grantsOf))
      .map(({ agent }) => agent.record.id)
    return [...new Set(ids)].filter((id) => read(catalog.get(id), caller).length === 0)
  }

  return {
    changed(agent, _when, before) {
      lastNumber = Math.max(lastNumber, agent.number)
      if (before && before.record.visibility !== 'private' && agent.record.visibility === 'private') noteRemoval(before)
    },
    removed: (_number, agent) => noteRemoval(agent),
    page(request) {
      const cursor = request.since === undefined ? undefined : parseCursor(request.since)
      if (cursor?.kind === 'list') return list(request, cursor)
      if (!cursor || cursor.at < horizon) return list(request, { at: now(), number: 0 })
      return changes(request, cursor)
    },
  }
}

/** What decides who could see an agent in its last state. Documents are not kept: thousands of them fill the memory. */
type Removed = Parameters<typeof maySee>[0]

const toRemoved = ({ record: { id, visibility, tags }, owner }: Agent): Removed => ({
  record: { id, visibility, tags: visibility === 'private' ? tags : [] },
  owner,
})

/** When an agent last changed or was refreshed. */
const changedAt = ({ stored }: Agent): number => Math.max(stored.modifiedAt, stored.receivedAt)
