import type { JsonObject } from '@switchboard/protocol'
import { component } from '../schemas/component.js'
import { anyObject, count, list, object, oneOf, text, texts, time } from '../schemas/parts.js'

const uri: JsonObject = { type: 'string', format: 'uri' }
const identifier: JsonObject = { type: 'string', pattern: '^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$' }

const trustManifest = object(
  {
    identity: uri,
    identityType: oneOf('https'),
    attestations: list(object({ type: text, uri, mediaType: text })),
    provenance: list(object({ relation: oneOf('publishedFrom', 'copiedFrom'), sourceId: text })),
  },
  'attestations',
  'provenance',
)

/** What is the same in all entries; the artifact is at `url`, or is `data`. */
const summary: JsonObject = {
  identifier,
  displayName: { type: 'string', minLength: 1 },
  type: text,
  description: text,
  tags: texts,
  capabilities: texts,
  version: text,
  updatedAt: time,
  metadata: { type: 'object', additionalProperties: text },
  trustManifest,
}
const OPTIONAL = ['description', 'tags', 'capabilities', 'version', 'updatedAt', 'metadata', 'trustManifest'] as const

/** A complete entry (ARD 0.91 §4.2, with the limits of the schema of ARD 0.9). */
export const entrySchema = component(
  'ArdEntry',
  object(
    { ...summary, url: uri, representativeQueries: { ...texts, minItems: 2, maxItems: 5 } },
    ...OPTIONAL,
    'representativeQueries',
  ),
)

/** The manifest of ARD, and an AI Catalog. */
export const catalogSchema = component(
  'AiCatalog',
  object({
    specVersion: oneOf('1.0'),
    host: object({ displayName: text, identifier: text, documentationUrl: uri }),
    entries: list(entrySchema),
  }),
)

const result = component('ArdSearchResult', {
  ...object(
    { ...summary, url: uri, data: anyObject, score: { type: 'integer', minimum: 0, maximum: 100 }, source: uri },
    ...OPTIONAL,
    'url',
    'data',
  ),
  oneOf: [{ required: ['url'] }, { required: ['data'] }],
})

const referral = object({ identifier, displayName: text, type: oneOf('application/ai-registry+json'), url: uri })

export const resultsSchema = object(
  { results: list(result), referrals: list(referral), pageToken: text },
  'referrals',
  'pageToken',
)

export const facetsSchema = object({
  resultType: oneOf('facets'),
  facets: {
    type: 'object',
    additionalProperties: object({ buckets: list(object({ value: text, count })), otherCount: count }, 'otherCount'),
  },
})

export const itemsSchema = object({ items: list(entrySchema), total: count, pageToken: text }, 'pageToken')
