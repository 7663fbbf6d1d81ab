export { inputOfMessage, skillOfMessage, toMessagePart } from './a2a-message.js'
export {
  type AcceptedResponse,
  type AcceptedTask,
  type PolledTask,
  type ReadHeader,
  readAcceptedTask,
  readPolledTask,
  readPollInterval,
  readProgress,
  type TaskProgress,
  taskIdOfHeaders,
  toProgress,
} from './accepted-task.js'
export { AGENT_ERROR_KINDS, type AgentErrorKind, type SentErrorCode } from './agent-errors.js'
export { agreeOnVersion } from './agree-on-version.js'
export {
  type CallerFrame,
  FRAME_TEXTS,
  type FrameId,
  isRequestFrame,
  type ReadReply,
  type ReplyFrame,
  type ReplyLine,
  type RequestLine,
  readCallerFrame,
  readReply,
  writeFrame,
} from './call-frames.js'
export { type CertificateNames, certificateSubject } from './certificate-subject.js'
export { chooseMediaType } from './choose-media-type.js'
export {
  createEventDecoder,
  createEventReader,
  type EventReader,
  type EventStreamOptions,
  readEventStream,
  type ServerSentEvent,
} from './event-reader.js'
export * from './http.js'
export { type CallableOperation, matchOperation, type OperationMatch } from './match-operation.js'
export { declaresMember, memberSchemas } from './member-schemas.js'
export { createMessageLines, isWholeMessage, type MessageLines } from './message-lines.js'
export { readQueryInput } from './query-input.js'
export { isEndEvent, readEventData } from './read-event.js'
export { type ReservedMembers, takeReserved } from './reserved-members.js'
export { type BucketLevel, createTokenBuckets, type TokenBucketOptions, type TokenBuckets } from './token-buckets.js'
export {
  claimedIssuer,
  createTokenVerifier,
  readScopes,
  readSubject,
  readWords,
  TokenError,
  type TokenErrorCode,
  type TokenVerifier,
  type TokenVerifierDeps,
  type TrustedIssuer,
  type VerifiedToken,
} from './token-verifier.js'
