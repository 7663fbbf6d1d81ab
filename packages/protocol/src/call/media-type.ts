/** Media types of a streamed response; the first is the default (C-59). */
export const STREAM_TYPES = ['text/event-stream', 'application/x-ndjson'] as const

/** Whether a media type is one that we stream in. */
export const isStreamType = (type: string | undefined): boolean => STREAM_TYPES.some((known) => known === type)

/** Media types of a descriptor; the first is the default (C-28, C-86). */
export const DESCRIPTOR_TYPES = ['application/json', 'application/agent-card+json', 'application/ld+json'] as const

const NDJSON_TYPES: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
])

/** The media type of a Content-Type header: lower case, without parameters; empty if there is none. */
export const mediaTypeOf = (contentType: string | null | undefined): string =>
  contentType === 'application/json' ? contentType : (contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '')

/** Whether a media type, as `mediaTypeOf` returns it, is JSON: `application/json`, or the suffix `+json` (RFC 6839). */
export const isJsonType = (type: string): boolean => /^(application\/json|[^/\s]+\/[^/\s]+\+json)$/.test(type)

/** Whether a media type is one of the names for JSON values on separate lines. */
export const isNdjsonType = (type: string): boolean => NDJSON_TYPES.has(type)
