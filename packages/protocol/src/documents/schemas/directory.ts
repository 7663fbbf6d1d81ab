import type { JsonObject } from '../../json.js'
import { extensions, LIMITS, object, tags, text, texts } from './parts.js'

const properties: JsonObject = {
  base: { type: 'string', format: 'absolute-uri' },
  description: text,
  protocols: texts,
  capabilities: {
    type: 'array',
    maxItems: LIMITS.capabilities,
    items: {
      type: 'object',
      required: ['name', 'type'],
      properties: {
        name: { type: 'string', format: 'capability-name' },
        type: text,
        description: text,
        tags,
        input_schema: object,
        output_schema: object,
      },
    },
  },
  version: text,
  vendor: text,
  identity: text,
  identity_type: text,
  ...extensions,
}

/** The body of a registration in the Agent Directory (AD §4.1). */
export const directorySchema: JsonObject = {
  $id: 'urn:switchboard:schema:directory',
  type: 'object',
  required: ['base'],
  properties,
}

/** The body of an update: it replaces the members that it has; others stay (AD §4.4, C-37). */
export const directoryUpdateSchema: JsonObject = {
  $id: 'urn:switchboard:schema:directory-update',
  type: 'object',
  properties,
}
