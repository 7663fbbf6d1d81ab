/** Safe in headers, logs, file names and URLs without escaping; UUIDs, ULIDs and trace ids fit. */
const REQUEST_ID = /^[\w.:-]{1,128}$/

/** Whether a value can serve as the id of a request (C-74). */
export const isRequestId = (value: unknown): value is string => typeof value === 'string' && REQUEST_ID.test(value)

/** The id that the client sent if it is well-formed, so that both sides can search for the same one; else a new id. */
export const toRequestId = (value: unknown, newId: () => string = () => crypto.randomUUID()): string =>
  isRequestId(value) ? value : newId()
