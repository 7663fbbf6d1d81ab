/**
 * Why there is no result: `interrupted`, because the search thread has stopped; `unavailable`, because it keeps stopping
 * and is started again only after a while; `failed`, because of a fault in this package.
 */
export type SearchErrorCode = 'interrupted' | 'unavailable' | 'failed'

/** A search by text could not be made. */
export class SearchError extends Error {
  override readonly name = 'SearchError'
  readonly code: SearchErrorCode

  constructor(code: SearchErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
