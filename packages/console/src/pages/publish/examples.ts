import type { JsonObject } from '@switchboard/protocol/json'

/** A document of each kind to start from, by the name that people know it by. */
export const EXAMPLES: Readonly<Record<string, JsonObject>> = {
  'AIDIP metadata': {
    id: 'greeter',
    name: 'Greeter',
    description: 'Greets people by their name, in English or German.',
    capabilities: ['greet'],
    tags: ['text', 'greeting'],
    endpoint: 'http://127.0.0.1:9001/',
    inputs: { name: 'string' },
    outputs: { greeting: 'string' },
  },
  'Discovery profile': {
    id: 'greeter',
    name: 'Greeter',
    description: 'Greets people by their name, in English or German.',
    tags: ['text', 'greeting'],
    bindings: [{ protocol: 'https', endpoint: 'https://agents.example.com/greeter' }],
    examples: ['Say hello to Ada', 'Welcome our new colleague'],
  },
  'Agent Directory entry': {
    base: 'https://agents.example.com/greeter',
    protocols: ['a2a'],
    capabilities: [{ name: 'greet', type: 'tool', tags: ['text'] }],
  },
  'agent.json': {
    name: 'greeter',
    version: '1.0.0',
    description: 'Greets people by their name, in English or German.',
    url: 'https://agents.example.com/greeter',
    capabilities: [{ name: 'greet', description: 'Greets somebody', input: { name: 'string' } }],
  },
  'A2A Agent Card': {
    name: 'Greeter',
    description: 'Greets people by their name, in English or German.',
    version: '1.0.0',
    supportedInterfaces: [
      { url: 'https://agents.example.com/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'greet', name: 'Greet', description: 'Greets somebody', tags: ['text'] }],
  },
  'MCP server.json': {
    name: 'com.example/greeter',
    description: 'Greets people by their name, in English or German.',
    version: '1.0.0',
    remotes: [{ type: 'streamable-http', url: 'https://agents.example.com/mcp' }],
  },
  OpenAPI: {
    openapi: '3.1.0',
    info: { title: 'Greeter', version: '1.0.0', description: 'Greets people by their name.' },
    servers: [{ url: 'https://agents.example.com' }],
    paths: {
      '/greet': {
        get: {
          operationId: 'greet',
          summary: 'Greet somebody',
          parameters: [{ name: 'name', in: 'query', required: true, schema: { type: 'string' } }],
          responses: { '200': { description: 'the greeting' } },
        },
      },
    },
  },
}
