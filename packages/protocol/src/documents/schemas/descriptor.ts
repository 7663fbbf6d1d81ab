import type { JsonObject } from '../../json.js'
import { extensions, LIMITS, nonEmptyText, object, tags, text, texts } from './parts.js'

/**
 * What a reader requires of agent.json: the types of its members. Missing members that AURI §7 recommends are warnings
 * (C-25), because most published documents lack some.
 */
export const descriptorSchema: JsonObject = {
  $id: 'urn:switchboard:schema:descriptor',
  type: 'object',
  required: ['name'],
  properties: {
    id: nonEmptyText,
    name: nonEmptyText,
    description: text,
    version: text,
    url: text,
    endpoint: text,
    transport: { type: ['string', 'object', 'array'] },
    supportedVersions: { type: 'object', additionalProperties: text },
    capabilities: {
      type: ['array', 'object'],
      maxItems: LIMITS.capabilities,
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: nonEmptyText,
          version: text,
          description: text,
          tags,
          input: object,
          output: object,
          isDeterministic: { type: 'boolean' },
          requiresContext: { type: 'boolean' },
          memoryEnabled: { type: 'boolean' },
          confidenceEstimation: { type: 'boolean' },
          responseLatency: { enum: ['low', 'medium', 'high'] },
          contentTypes: object,
        },
      },
    },
    skills: { type: 'array', maxItems: LIMITS.capabilities, items: object },
    authentication: { type: ['string', 'object'] },
    interactionModel: text,
    envelopeSchemas: texts,
    ...extensions,
  },
}

/** An A2A Agent Card. It has `url` (0.3) or `supportedInterfaces` (1.0), which `validateDocument` checks. */
export const agentCardSchema: JsonObject = {
  $id: 'urn:switchboard:schema:agent-card',
  type: 'object',
  required: ['name', 'description', 'version', 'capabilities', 'skills'],
  properties: {
    protocolVersion: text,
    name: nonEmptyText,
    description: text,
    version: text,
    url: nonEmptyText,
    preferredTransport: text,
    additionalInterfaces: {
      type: 'array',
      maxItems: LIMITS.bindings,
      items: { type: 'object', required: ['url', 'transport'], properties: { url: nonEmptyText, transport: text } },
    },
    supportedInterfaces: {
      type: 'array',
      minItems: 1,
      maxItems: LIMITS.bindings,
      items: {
        type: 'object',
        required: ['url', 'protocolBinding'],
        properties: { url: nonEmptyText, protocolBinding: text, protocolVersion: text },
      },
    },
    provider: { type: 'object', properties: { organization: text, url: text } },
    capabilities: object,
    defaultInputModes: texts,
    defaultOutputModes: texts,
    securitySchemes: object,
    skills: {
      type: 'array',
      maxItems: LIMITS.capabilities,
      items: {
        type: 'object',
        required: ['id', 'name'],
        properties: { id: nonEmptyText, name: text, description: text, tags, examples: texts },
      },
    },
    ...extensions,
  },
}

/** An MCP registry's server.json. */
export const mcpServerSchema: JsonObject = {
  $id: 'urn:switchboard:schema:mcp-server',
  type: 'object',
  required: ['name', 'description', 'version'],
  properties: {
    name: nonEmptyText,
    title: text,
    description: text,
    version: text,
    websiteUrl: text,
    repository: object,
    remotes: {
      type: 'array',
      maxItems: LIMITS.bindings,
      items: { type: 'object', required: ['type', 'url'], properties: { type: text, url: nonEmptyText } },
    },
    packages: {
      type: 'array',
      maxItems: LIMITS.bindings,
      items: {
        type: 'object',
        required: ['registryType', 'identifier'],
        properties: { registryType: text, identifier: nonEmptyText, version: text },
      },
    },
    ...extensions,
  },
}
