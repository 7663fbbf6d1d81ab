export { canonicalJson } from './canonical-json.js'
export {
  checkOrder,
  type DelegationHop,
  type DelegationRequest,
  delegate,
  MAX_DELEGATION_HOPS,
  readHop,
  splitChain,
} from './delegation.js'
export { absoluteId, readDidKeys } from './did-document.js'
export { didKeyOf, keyOfDidKey } from './did-key.js'
export { didWebUrl } from './did-web.js'
export {
  type ClaimedSigner,
  claimedSigners,
  type DocumentSignature,
  type SigningKey,
  signCard,
  signDocument,
  verifyDocument,
} from './document-signature.js'
export { readKeySet, SIGNING_ALGORITHMS, type SigningAlgorithm, type VerificationKey } from './keys.js'
export {
  contentDigest,
  type SignatureFields,
  type SignatureParameters,
  type SignedComponent,
  signMessage,
} from './message-signature.js'
export { createSeenTokens, type SeenTokens } from './seen-tokens.js'
export { isSigned } from './signature-claims.js'
export { SigningError, type SigningErrorCode } from './signing-error.js'
export { type Delegation, type DelegationCheck, verifyDelegation } from './verify-delegation.js'
