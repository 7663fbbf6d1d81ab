import {
  agentCardSchema,
  aidipSchema,
  DIRECTORY_META,
  descriptorSchema,
  directorySchema,
  type JsonObject,
  mcpServerSchema,
  profileSchema,
} from '@switchboard/protocol'
import { component } from './component.js'
import { openObjects } from './open-objects.js'
import { amount, anyObject, flag, list, object, text, texts, time } from './parts.js'

const open = (schema: JsonObject): JsonObject => openObjects(schema, true)

/** Documents of publishers, by format. */
export const aidipDocument = component('AidipDocument', open(aidipSchema))
export const profileDocument = component('ProfileDocument', open(profileSchema))
export const directoryDocument = component('DirectoryDocument', open(directorySchema))
export const descriptorDocument = component('DescriptorDocument', open(descriptorSchema))
export const agentCardDocument = component('AgentCardDocument', open(agentCardSchema))
export const mcpServerDocument = component('McpServerDocument', open(mcpServerSchema))

/** An OpenAPI description; its rules are its own. */
export const openApiDocument = component('OpenApiDocument', {
  ...object({ openapi: { ...text, pattern: '^3\\.[01]\\.' }, info: anyObject, paths: anyObject }, 'paths'),
  additionalProperties: true,
})

/** What the directory found out about an agent, and what its operator says about it. */
export const verificationSchema = component('Verification', {
  ...object(
    {
      state: { ...text, examples: ['verified', 'self-asserted'] },
      by: text,
      at: time,
      signature: anyObject,
      domain: anyObject,
      health: anyObject,
      probe: anyObject,
      warnings: list(anyObject),
      certification: anyObject,
      quality_score: amount,
      unsafe: flag,
      reputation: anyObject,
    },
    ...['state', 'by', 'at', 'signature', 'domain', 'health', 'probe', 'warnings'],
    ...['certification', 'quality_score', 'unsafe', 'reputation'],
  ),
  additionalProperties: true,
})

/** Where an agent of another directory comes from. */
export const provenanceSchema = component('Provenance', {
  ...object(
    {
      origin_service: text,
      origin_authority: text,
      origin_signature: object({ jws: text, kid: text }),
      received_at: time,
      path: texts,
    },
    'origin_signature',
  ),
  additionalProperties: true,
})

export const freshnessSchema = component(
  'Freshness',
  object(
    { metadata_updated_at: time, indexed_at: time, received_at: time, expires_at: time },
    'metadata_updated_at',
    'expires_at',
  ),
)

/** Members that the directory adds to a document. */
const added = (own: JsonObject): JsonObject => ({
  ...object(
    {
      ...own,
      verification: verificationSchema,
      // A format that does not define these leaves them to the publisher, who may write anything.
      status: { description: "the operator's status if there is one, or else the publisher's" },
      expires_at: { description: 'when the registration ends, if it does' },
      redacted: flag,
      origin_service: text,
      provenance: provenanceSchema,
    },
    ...['status', 'expires_at', 'redacted', 'origin_service', 'provenance'],
  ),
  additionalProperties: true,
})

/** A document as the directory shows it, with the members that it adds. */
const view = (name: string, document: JsonObject, own: JsonObject = {}): JsonObject =>
  component(name, { allOf: [document, added(own)] })

export const aidipView = view('AidipView', aidipDocument, { id: text })
export const profileView = view('ProfileView', profileDocument, { id: text, freshness: freshnessSchema })
export const directoryView = view('DirectoryView', directoryDocument, {
  agent: text,
  lt: { type: 'integer', minimum: 1 },
  href: text,
})
export const descriptorView = view('DescriptorView', descriptorDocument)
/** A signed card has no members of the directory. */
const { required: _none, ...addedToCards } = added({})
export const agentCardView = component('AgentCardView', { allOf: [agentCardDocument, addedToCards] })
/** Here the members of the directory are in `_meta`. */
export const mcpServerView = component('McpServerView', {
  allOf: [
    mcpServerDocument,
    {
      ...object({ _meta: { ...object({ [DIRECTORY_META]: added({ id: text }) }), additionalProperties: true } }),
      additionalProperties: true,
    },
  ],
})
