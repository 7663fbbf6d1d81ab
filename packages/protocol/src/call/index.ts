export {
  type AcceptedResponse,
  type AcceptedTask,
  type PolledTask,
  type ReadHeader,
  readAcceptedTask,
  readPolledTask,
  readPollInterval,
  taskIdOfHeaders,
} from './accepted-task.js'
export { AGENT_ERROR_KINDS, type AgentErrorKind, type SentErrorCode } from './agent-errors.js'
export { agree, agreeOnVersion } from './agree.js'
export { decodeUtf8, parseJsonBody, readBytes } from './body.js'
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
  createEventReader,
  type EventReader,
  type EventStreamOptions,
  readEventStream,
  type ServerSentEvent,
} from './event-reader.js'
export {
  type Conditions,
  isNotModified,
  isRequestId,
  matchesTag,
  prefersAsync,
  readIdempotencyKey,
  readRetryAfter,
  toRequestId,
} from './headers.js'
export { createByteLineSplitter, createLineSplitter, type LineSplitter } from './line-splitter.js'
export { type CallableOperation, matchOperation, type OperationMatch } from './match-operation.js'
export { DESCRIPTOR_TYPES, isJsonType, isNdjsonType, isStreamType, mediaTypeOf, STREAM_TYPES } from './media-type.js'
export { declaresMember, memberSchemas } from './member-schemas.js'
export { createMessageLines, isWholeMessage, type MessageLines } from './message-lines.js'
export { readQueryInput } from './query-input.js'
export { isEndEvent, readEventData } from './read-event.js'
export { type ReservedMembers, takeReserved } from './reserved-members.js'
export { EVENT_STREAM, isErrorLine, NDJSON, type StreamFormat, type StreamPart, writeLine } from './stream-formats.js'
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
