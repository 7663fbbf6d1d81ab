/** What can be wrong with a signature or a chain of delegation; stable, for programs to tell apart. */
export type SigningErrorCode =
  /** There is no signature. */
  | 'unsigned'
  /** Not what the format promises: a JWS, a key, a DID, a claim. */
  | 'malformed'
  /** The algorithm is not on the list of those accepted. */
  | 'unsupported_algorithm'
  /** No key that the signer has published fits. */
  | 'unknown_key'
  /** The signature is not of this content and key. */
  | 'bad_signature'
  | 'expired'
  /** A token is for another reader than this one. */
  | 'wrong_audience'
  /** The hops do not follow from each other. */
  | 'broken_chain'
  /** An actor stands in the chain twice. */
  | 'loop'
  | 'too_long'
  /** The token was shown before. */
  | 'replayed'

/** A signature that cannot be made or trusted, known by its code. */
export class SigningError extends Error {
  override readonly name = 'SigningError'
  readonly code: SigningErrorCode

  constructor(code: SigningErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
