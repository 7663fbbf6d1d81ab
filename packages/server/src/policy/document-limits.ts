import { countValues, DirectoryError, DOCUMENT_LIMITS, type JsonObject, TooManyValues } from '@switchboard/protocol'

export { DOCUMENT_LIMITS }

/** Rejects a document that was put together from several requests, each within the limits. */
export function assertDocumentSize(document: JsonObject): void {
  if (countValues(document) > DOCUMENT_LIMITS.values) throw new TooManyValues(DOCUMENT_LIMITS.values)
  const bytes = Buffer.byteLength(JSON.stringify(document))
  if (bytes <= DOCUMENT_LIMITS.bytes) return
  throw new DirectoryError(
    'payload_too_large',
    `with these changes the document has ${bytes} bytes; ${DOCUMENT_LIMITS.bytes} are allowed: leave out what is not needed, or refer to it by URL`,
  )
}
