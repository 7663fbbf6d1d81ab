/**
 * - `locked`: another process serves this folder
 * - `unavailable`: the database cannot be reached, read or written
 * - `newer_version`: the database was written by a newer Switchboard
 * - `cursor_lost`: the change log no longer reaches back to this cursor; load anew
 * - `invalid`: text that a database cannot keep
 * - `closed`: the store was closed
 */
export type StoreErrorCode = 'locked' | 'unavailable' | 'newer_version' | 'cursor_lost' | 'invalid' | 'closed'

/** What a store fails with. Callers look at the code; the message is one line for the operator, without secrets. */
export class StoreError extends Error {
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
    this.code = code
  }
}

/** The first line of what an error says; some of Node's network errors say it in their code only. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : error.name
  return error.message.split('\n')[0] || code
}
