// The agents that are called, with their inputs and outputs.

/** Response time of the slow agent, in milliseconds. */
export const SLOW_MS = 2000

/** Occurs exactly once in each event, so that events can be counted without parsing. */
export const EVENT_MARKER = 0x7e // ~

const text = 'The parties agree that this contract is governed by the laws of the seat of the supplier.'

export const CALLS = Array.from({ length: 16 }, (_, i) => ({
  text: `${i}. ${text}`,
  from: 'en',
  to: ['de', 'fr', 'zh', 'es'][i % 4],
  options: { formal: i % 2 === 0, glossary: ['supplier', 'seat', 'party'], temperature: 0.2 },
}))

export const ANSWER = {
  text: 'Die Parteien vereinbaren, dass dieser Vertrag dem Recht am Sitz des Lieferanten unterliegt.',
  language: 'de',
  confidence: 0.93,
  segments: [
    { start: 0, end: 41, score: 0.95 },
    { start: 42, end: 91, score: 0.91 },
  ],
  usage: { input: 19, output: 16 },
}

export const toEvent = (i) => `data: {"index":${i},"delta":"token ${i} ~","language":"de"}\n\n`

const inputs = {
  type: 'object',
  required: ['text', 'to'],
  additionalProperties: false,
  properties: {
    text: { type: 'string', minLength: 1, maxLength: 10_000 },
    from: { type: 'string', pattern: '^[a-z]{2}$' },
    to: { type: 'string', enum: ['de', 'fr', 'zh', 'es'] },
    options: {
      type: 'object',
      properties: {
        formal: { type: 'boolean' },
        glossary: { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 100 } },
        temperature: { type: 'number', minimum: 0, maximum: 2 },
      },
    },
  },
}
const count = { type: 'integer', minimum: 0 }
const outputs = {
  type: 'object',
  required: ['text', 'language'],
  properties: {
    text: { type: 'string' },
    language: { type: 'string', minLength: 2, maxLength: 8 },
    confidence: { type: 'number', minimum: 0, maximum: 1 },
    segments: {
      type: 'array',
      items: {
        type: 'object',
        required: ['start', 'end'],
        properties: { start: count, end: count, score: { type: 'number' } },
      },
    },
    usage: { type: 'object', properties: { input: count, output: count } },
  },
}
const streamInputs = {
  type: 'object',
  required: ['events', 'every'],
  properties: { events: count, every: count },
}

/** The documents to register: one agent for each path of the upstream. */
export const toDocuments = (upstream) =>
  [
    { id: 'agent', operation: { name: 'translate', inputs, outputs } },
    { id: 'slow', operation: { name: 'translate', inputs, outputs } },
    { id: 'stream', operation: { name: 'tell', inputs: streamInputs, outputs: { type: 'object' } } },
  ].map(({ id, operation }) => ({
    id,
    name: `Agent at path ${id}`,
    description: 'Translates contracts, always in the same way.',
    version: '1.0.0',
    publisher: 'Bench',
    tags: ['translation'],
    capabilities: [operation.name],
    protocols: ['http'],
    endpoint: `http://127.0.0.1:${upstream.port}/${id}`,
    operations: [operation],
  }))
