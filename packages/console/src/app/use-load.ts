import { useCallback, useEffect, useState } from 'react'

/** What a page loads: still loading, there, or failed. The last value stays while a newer one is loaded. */
export interface Loaded<T> {
  readonly value: T | undefined
  readonly error: unknown
  readonly isLoading: boolean
  readonly reload: () => void
}

/**
 * Loads a value when a component appears and again when `key` changes; a request that nobody waits for is cancelled.
 *
 * @example
 * const { value, error } = useLoad(id, (signal) => directory.get(id, { signal }))
 */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: unknown }>()
  const [attempt, setAttempt] = useState(0)
  const [pending, setPending] = useState(true)

  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says what is loaded; `load` is new at every rendering.
  useEffect(() => {
    const controller = new AbortController()
    const finish = (result: { value?: T; error?: unknown }): void => {
      if (controller.signal.aborted) return
      setState((old) => ({ ...(old?.key === key && { value: old.value }), key, ...result }) as typeof state)
      setPending(false)
    }
    setPending(true)
    load(controller.signal).then(
      (value) => finish({ value, error: undefined }),
      (error: unknown) => finish({ error }),
    )
    return () => controller.abort()
  }, [key, attempt])

  const reload = useCallback(() => setAttempt((count) => count + 1), [])
  return { value: state?.value, error: state?.error, isLoading: pending, reload }
}
