/** Stable codes of what can be wrong with a signature or a delegation chain. */
export type SigningErrorCode =
  /** There is no signature. */
  | 'unsigned'
  /** An invalid JWS, key, DID or claim. */
  | 'malformed'
  /** The algorithm is not accepted. */
  | 'unsupported_algorithm'
  /** The signer has not published a matching key. */
  | 'unknown_key'
  /** The signature does not match content and key. */
  | 'bad_signature'
  | 'expired'
  /** The token is addressed to another agent. */
  | 'wrong_audience'
  /** A hop does not continue the previous one. */
  | 'broken_chain'
  /** An actor occurs twice in the chain. */
  | 'loop'
  | 'too_long'
  /** The token was used before. */
  | 'replayed'

/** A signature cannot be created or is not valid. */
export class SigningError extends Error {
  override readonly name = 'SigningError'
  readonly code: SigningErrorCode

  constructor(code: SigningErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
