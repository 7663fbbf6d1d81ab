import { asObjects, asString, isObject, type JsonObject } from '../json.js'

/** Maximum number of signatures to try; a card may have several. */
const MAX_SIGNATURES = 4

/** A signature of a document, not verified. */
export interface SignatureClaim {
  /** The member that contains the signature and is not part of the signed content. */
  readonly member: 'signature' | 'signatures'
  readonly protected: string
  readonly signature: string
}

/** The signatures of a document, in our form and in that of A2A cards. */
export function readSignatures(document: JsonObject): SignatureClaim[] {
  const own = isObject(document.signature) ? asString(document.signature.jws) : undefined
  const [head = '', payload, mark = ''] = own?.split('.') ?? []
  return [
    // The payload is detached: it is the document itself (RFC 7515, appendix F).
    ...(own !== undefined
      ? [{ member: 'signature' as const, protected: payload === '' ? head : '', signature: mark }]
      : []),
    ...asObjects(document.signatures).flatMap(({ protected: header, signature }) =>
      typeof header === 'string' && typeof signature === 'string'
        ? [{ member: 'signatures' as const, protected: header, signature }]
        : [],
    ),
  ].slice(0, MAX_SIGNATURES)
}

/** Whether a document has a signature, in our form or in that of A2A cards; it is not verified. */
export const isSigned = (document: JsonObject): boolean => readSignatures(document).length > 0
