import type { JsonObject } from '../../json.js'
import { extensions, LIMITS, nonEmptyText, object, tags, text, texts, timestamp } from './parts.js'

/** Agent metadata of AIDIP-01 §3, with the forms of AIDIP-00 §4 that are still valid (01 §8, C-07, C-11). */
export const aidipSchema: JsonObject = {
  $id: 'urn:switchboard:schema:aidip',
  type: 'object',
  required: ['name', 'description', 'capabilities', 'endpoint'],
  properties: {
    id: nonEmptyText,
    name: nonEmptyText,
    description: text,
    version: text,
    publisher: text,
    // `publisher` in 00; the object form comes from agent cards (C-12).
    provider: { type: ['string', 'object'] },
    capabilities: { type: 'array', items: text, maxItems: LIMITS.capabilities },
    tags,
    endpoint: { type: 'string', format: 'endpoint' },
    supported_languages: texts,
    authentication: {
      type: ['string', 'object'],
      properties: { type: text, instructions: text, scopes: texts, schemes: texts },
    },
    status: text,
    inputs: object,
    outputs: object,
    input_schema: object,
    output_schema: object,
    operations: {
      type: 'array',
      minItems: 1,
      maxItems: LIMITS.operations,
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: nonEmptyText,
          description: text,
          endpoint: { type: 'string', format: 'endpoint' },
          inputs: object,
          outputs: object,
          input_schema: object,
          output_schema: object,
          examples: { type: 'array', maxItems: LIMITS.examples, items: object },
          http: {
            type: 'object',
            required: ['method', 'path'],
            properties: {
              method: { enum: ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] },
              path: { type: 'string', pattern: '^/' },
              parameters: { type: 'object', additionalProperties: { enum: ['path', 'query', 'header'] } },
              body: nonEmptyText,
              form: { type: 'boolean' },
              key: {
                type: 'object',
                required: ['place', 'name'],
                properties: { place: { enum: ['query', 'header'] }, name: nonEmptyText },
              },
            },
          },
        },
      },
    },
    protocols: texts,
    license: text,
    certification: object,
    last_update: text,
    updated_at: timestamp,
    expires_at: timestamp,
    sequence: { type: 'integer' },
    ...extensions,
  },
}
