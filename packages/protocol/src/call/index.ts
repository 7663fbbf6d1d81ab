export {
  type AcceptedResponse,
  type AcceptedTask,
  type ReadHeader,
  readAcceptedTask,
  readPollInterval,
  taskIdOfHeaders,
  taskOutcome,
} from './accepted-task.js'
export { agree } from './agree.js'
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
export { type Conditions, isNotModified, matchesTag } from './conditional-request.js'
export {
  createEventReader,
  type EventReader,
  type EventStreamOptions,
  readEventStream,
  type ServerSentEvent,
} from './event-reader.js'
export { readIdempotencyKey } from './idempotency-key.js'
export { decodeUtf8, parseJsonBody } from './json-body.js'
export { createByteLineSplitter, createLineSplitter, type LineSplitter } from './line-splitter.js'
export { type CallableOperation, matchOperation, type OperationMatch } from './match-operation.js'
export { DESCRIPTOR_TYPES, isJsonType, isNdjsonType, isStreamType, mediaTypeOf, STREAM_TYPES } from './media-type.js'
export { declaresMember, memberSchemas } from './member-schemas.js'
export { createMessageLines, isWholeMessage, type MessageLines } from './message-lines.js'
export { prefersAsync } from './prefer.js'
export { readQueryInput } from './query-input.js'
export { readBytes } from './read-bytes.js'
export { isEndEvent, readEventData } from './read-event.js'
export { isRequestId, toRequestId } from './request-id.js'
export { type ReservedMembers, takeReserved } from './reserved-members.js'
export { readRetryAfter } from './retry-after.js'
export {
  EVENT_STREAM,
  isErrorLine,
  NDJSON,
  type StreamFormat,
  type StreamPart,
  writeLine,
} from './stream-formats.js'
export { createTokenBuckets, type TakeTokens, type TokenBucketOptions } from './token-buckets.js'
export {
  createTokenVerifier,
  TokenError,
  type TokenErrorCode,
  type TokenVerifier,
  type TokenVerifierDeps,
  type TrustedIssuer,
  type VerifiedToken,
} from './token-verifier.js'
