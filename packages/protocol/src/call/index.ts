export { createEventReader, type EventReader, type ServerSentEvent } from '../server-sent-events.js'
export { type CertificateNames, certificateSubject } from './certificate-subject.js'
export {
  createTokenVerifier,
  TOKEN_CLOCK_TOLERANCE,
  TokenError,
  type TokenErrorCode,
  type TokenVerifier,
  type TokenVerifierDeps,
  type TrustedIssuer,
  type VerifiedToken,
} from './token-verifier.js'
