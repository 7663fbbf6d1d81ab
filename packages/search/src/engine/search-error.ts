/**
 * Why there is no result:
 * - `interrupted`: the search thread has stopped; the same can be tried again
 * - `unavailable`: the thread keeps stopping, or the database of the text index cannot be used
 * - `failed`: a fault in this package, or the index could not be saved
 */
export type SearchErrorCode = 'interrupted' | 'unavailable' | 'failed'

/** A search or a check was not possible. */
export class SearchError extends Error {
  override readonly name = 'SearchError'
  readonly code: SearchErrorCode

  constructor(code: SearchErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Whether search is only not available at the moment, and goes on by itself. */
export const isSearchOutage = (error: unknown): error is SearchError =>
  error instanceof SearchError && error.code !== 'failed'
