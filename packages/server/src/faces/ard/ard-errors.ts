import type { DirectoryError, JsonObject } from '@switchboard/protocol'

/** The codes of ARD 0.91, appendix B, by status; it has none for 403. */
const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RATE_LIMIT_EXCEEDED',
}

/** What clients of ARD read in the body of an error; it also has `message`, like all errors here. */
export const toArdError = ({ status }: DirectoryError): JsonObject => ({
  errorCode: CODES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL_ERROR'),
})

/** Whether a URL that no route serves lies below the interface of ARD. */
export const isArdUrl = (url: string): boolean => /^\/ard(\/|\?|$)/.test(url)
