import type { AgentSummary, SearchPage } from '@switchboard/client/discovery'
import { useCallback, useEffect, useRef, useState } from 'react'
import { directory } from '../../app/api.js'
import { type SearchState, toParams, toRequest } from './search-state.js'

/** Results in a request: more than a screen shows, and little enough to be there at once. */
const PAGE_SIZE = 25

/** The results of a search, as far as they have been loaded. */
export interface Results {
  /** The search that they belong to; the one before, while the next is loading. */
  readonly state: SearchState
  readonly total: number
  /** What the directory said with the first page. */
  readonly first: SearchPage
  /** The result at a position and the id of the search that found it; undefined until it is loaded. */
  readonly at: (index: number) => { readonly agent: AgentSummary; readonly searchId: string | undefined } | undefined
}

interface Running {
  readonly controller: AbortController
  readonly state: SearchState
  readonly requested: Set<number>
}

interface Loaded {
  readonly state: SearchState
  readonly pages: ReadonlyMap<number, SearchPage>
}

/** Loads the results of a search: the first page at once, the others when they come into view. */
export function useResults(state: SearchState): {
  readonly results: Results | undefined
  readonly error: unknown
  readonly isLoading: boolean
  readonly reload: () => void
  readonly show: (from: number, to: number) => void
} {
  const key = toParams(state).toString()
  const [loaded, setLoaded] = useState<Loaded>()
  const [error, setError] = useState<unknown>()
  const [isLoading, setIsLoading] = useState(true)
  const [attempt, setAttempt] = useState(0)
  const running = useRef<Running>(undefined)

  const load = useCallback(async ({ controller: { signal }, state, requested }: Running, page: number) => {
    requested.add(page)
    try {
      const found = await directory.search(toRequest(state, page * PAGE_SIZE, PAGE_SIZE), { signal })
      if (signal.aborted) return
      setLoaded((old) => ({
        state,
        pages: new Map(page === 0 || old?.state !== state ? [[page, found]] : [...old.pages, [page, found]]),
      }))
      setError(undefined)
    } catch (failure) {
      if (signal.aborted) return
      requested.delete(page)
      setError(failure)
    }
    if (page === 0) setIsLoading(false)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` is the state; `attempt` repeats the request.
  useEffect(() => {
    const started = { controller: new AbortController(), state, requested: new Set<number>() }
    running.current = started
    setIsLoading(true)
    void load(started, 0)
    return () => started.controller.abort()
  }, [key, attempt])

  const show = useCallback(
    (from: number, to: number) => {
      const current = running.current
      if (current === undefined || current.state !== loaded?.state) return
      for (let page = Math.floor(from / PAGE_SIZE); page * PAGE_SIZE <= to; page++)
        if (!current.requested.has(page)) void load(current, page)
    },
    [load, loaded],
  )
  const reload = useCallback(() => setAttempt((count) => count + 1), [])
  return { results: loaded && toResults(loaded), error, isLoading, reload, show }
}

function toResults({ state, pages }: Loaded): Results | undefined {
  const first = pages.get(0)
  if (first === undefined) return undefined
  return {
    state,
    first,
    total: first.total ?? first.agents.length,
    at: (index) => {
      const page = pages.get(Math.floor(index / PAGE_SIZE))
      const agent = page?.agents[index % PAGE_SIZE]
      return page && agent && { agent, searchId: page.searchId }
    },
  }
}
