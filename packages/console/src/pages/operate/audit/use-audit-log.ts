import type { JsonObject } from '@switchboard/protocol/json'
import { useCallback, useEffect, useRef, useState } from 'react'
import { requestJson } from '../../../app/api.js'
import { objectsAt, textAt } from '../../../app/read-json.js'

/** Entries of one request. */
const PAGE = 200

export interface AuditLog {
  readonly entries: readonly JsonObject[]
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly error: unknown
  /** Loads the next page, unless one is being loaded. */
  readonly loadMore: () => void
  /** Starts again with the newest. */
  readonly reload: () => void
}

interface Pages {
  readonly query: string
  readonly entries: readonly JsonObject[]
  /** Undefined at the end of the log. */
  readonly next: string | undefined
}

/** The entries that match a query, newest first, page by page. */
export function useAuditLog(query: string): AuditLog {
  const [pages, setPages] = useState<Pages>()
  const [error, setError] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  const loading = useRef<AbortController>(undefined)
  const [isLoading, setLoading] = useState(true)

  const load = useCallback(async (of: string, before: Pages | undefined): Promise<void> => {
    loading.current?.abort()
    const controller = new AbortController()
    loading.current = controller
    setLoading(true)
    setError(undefined)
    const params = new URLSearchParams(of)
    params.set('limit', String(PAGE))
    if (before?.next !== undefined) params.set('cursor', before.next)
    try {
      const page = await requestJson(`/admin/audit?${params}`, { signal: controller.signal })
      const entries = [...(before?.entries ?? []), ...objectsAt(page, 'entries')]
      if (!controller.signal.aborted) setPages({ query: of, entries, next: textAt(page, 'next') })
    } catch (failure) {
      if (!controller.signal.aborted) setError(failure)
    } finally {
      if (!controller.signal.aborted) setLoading(false)
    }
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` asks for the same again.
  useEffect(() => {
    void load(query, undefined)
    return () => loading.current?.abort()
  }, [query, attempt, load])

  const next = pages?.query === query ? pages.next : undefined
  return {
    entries: pages?.entries ?? [],
    hasMore: next !== undefined,
    isLoading,
    error,
    loadMore: () => {
      if (!isLoading && error === undefined && next !== undefined) void load(query, pages)
    },
    reload: () => setAttempt((count) => count + 1),
  }
}
