import { useState } from 'react'

export interface Action {
  readonly error: unknown
  readonly isPending: boolean
  /** Runs it; true if it succeeded. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>
}

/** The state of something that a person does, such as sending a form. */
export function useAction(): Action {
  const [error, setError] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  return {
    error,
    isPending,
    async run(work) {
      setPending(true)
      setError(undefined)
      try {
        await work()
        return true
      } catch (failure) {
        setError(failure)
        return false
      } finally {
        setPending(false)
      }
    },
  }
}
