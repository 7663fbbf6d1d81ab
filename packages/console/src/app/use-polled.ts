import { useInterval } from '@mantine/hooks'
import { type Loaded, useLoad } from './use-load.js'

/** Loads a value again and again, while the page is visible. */
export function usePolled<T>(key: string, everyMs: number, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const loaded = useLoad(key, load)
  useInterval(
    () => {
      if (document.visibilityState === 'visible' && !loaded.isLoading) loaded.reload()
    },
    everyMs,
    { autoInvoke: true },
  )
  return loaded
}
