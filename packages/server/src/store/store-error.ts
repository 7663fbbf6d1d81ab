/**
 * - `locked`: another server uses this folder
 * - `unavailable`: the database cannot be reached, read or written
 * - `newer_version`: the database was written by a newer Switchboard
 * - `cursor_lost`: the change log has been pruned beyond this cursor; load again
 * - `unsupported`: the database lacks an extension, or has one that is too old
 * - `invalid`: text that a database cannot store
 * - `closed`: the store was closed
 */
export type StoreErrorCode =
  | 'locked'
  | 'unavailable'
  | 'newer_version'
  | 'cursor_lost'
  | 'unsupported'
  | 'invalid'
  | 'closed'

/** An error of the store. Callers check the code; the message is one line for the operator, without secrets. */
export class StoreError extends Error {
  readonly code: StoreErrorCode
  /** Milliseconds after which the store may work again, if it is known not to work. */
  readonly retryAfterMs: number | undefined

  constructor(code: StoreErrorCode, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options)
    this.name = 'StoreError'
    this.code = code
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Whether the store failed, rather than what was requested of it. Such failures are reported by its health. */
export const isStoreFailure = (error: unknown): error is StoreError =>
  error instanceof StoreError && error.code === 'unavailable'

/** The first line of an error's message; some of Node's network errors have only a code. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : error.name
  return error.message.split('\n')[0] || code
}
