import type { JsonObject } from '../../json.js'
import { extensions, LIMITS, nonEmptyText, object, tags, text, texts, timestamp } from './parts.js'

/** One entry of `bindings` (PROF §4.6). */
export const bindingSchema: JsonObject = {
  type: 'object',
  required: ['protocol', 'endpoint'],
  properties: {
    protocol: nonEmptyText,
    endpoint: nonEmptyText,
    media_types: texts,
    interaction_model: text,
    priority: { type: 'integer' },
    private: { type: 'boolean' },
  },
}

/** Agent Metadata of the discovery profile, Table 1 to 3 (PROF §4). */
export const profileSchema: JsonObject = {
  $id: 'urn:switchboard:schema:profile',
  type: 'object',
  required: ['id', 'name', 'description', 'bindings'],
  properties: {
    id: nonEmptyText,
    name: nonEmptyText,
    description: text,
    tags,
    examples: {
      type: 'array',
      maxItems: LIMITS.examples,
      items: {
        type: 'object',
        required: ['text'],
        properties: {
          id: text,
          text,
          tags: texts,
          input_schema: object,
          output_schema: object,
          language: text,
          private: { type: 'boolean' },
        },
      },
    },
    bindings: {
      type: 'array',
      minItems: 1,
      maxItems: LIMITS.bindings,
      items: bindingSchema,
    },
    auth: object,
    constraints: object,
    status: text,
    version: text,
    updated_at: timestamp,
    expires_at: timestamp,
    sequence: { type: 'integer' },
    signature: object,
    ...extensions,
  },
}

/** A discovery request (PROF §5.1). */
export const discoveryRequestSchema: JsonObject = {
  $id: 'urn:switchboard:schema:discovery-request',
  type: 'object',
  required: ['query'],
  properties: {
    query: nonEmptyText,
    required_tags: texts,
    preferred_tags: texts,
    excluded_tags: texts,
    protocols: texts,
    constraints: object,
    limit: { type: 'integer', minimum: 1 },
    include_evidence: { type: 'boolean' },
    exact: { type: 'boolean', description: 'search for the words as they are written: no correction of typos' },
    detail: { enum: ['minimal', 'summary', 'full'] },
    client_context: object,
    federate: { type: 'boolean' },
    deadline_ms: { type: 'integer', minimum: 1 },
  },
}
