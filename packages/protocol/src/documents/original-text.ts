import { parseJsonBody } from '../call/body.js'
import { isObject, type JsonLimits, type JsonObject, type JsonValue } from '../json.js'
import { isSigned } from '../signing/signature-claims.js'

/** Beside the documents, because a document is passed on as a value by everything between its arrival and its delivery. */
const texts = new WeakMap<JsonObject, string>()

/**
 * Keeps the text that a document was parsed from if it is signed, so that it can be returned byte for byte. The text belongs
 * to this object: a changed copy of the document has none.
 */
export function keepText(document: JsonObject, text: () => string): void {
  if (isSigned(document)) texts.set(document, text())
}

/** Parses a body that may be a signed document, whose text is kept. */
export function parseDocumentBody(bytes: Uint8Array, limits?: JsonLimits): JsonValue {
  const value = parseJsonBody(bytes, limits)
  if (isObject(value)) keepText(value, () => new TextDecoder().decode(bytes))
  return value
}

/** The JSON text of a document: the original one if it was kept. */
export const textOf = (document: JsonObject): string => texts.get(document) ?? JSON.stringify(document)
