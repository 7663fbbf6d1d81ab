// The entry point `@switchboard/protocol/http`: headers, media types, bodies and lines of any request, without the rules
// of a call, which need libraries.
export { agree } from './agree.js'
export { decodeUtf8, parseJsonBody, readBytes, withoutMark } from './body.js'
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
export { DESCRIPTOR_TYPES, isJsonType, isNdjsonType, isStreamType, mediaTypeOf, STREAM_TYPES } from './media-type.js'
export {
  EVENT_STREAM,
  eachPart,
  isErrorLine,
  NDJSON,
  type PartBatches,
  type StreamFormat,
  type StreamPart,
  writeLine,
} from './stream-formats.js'
