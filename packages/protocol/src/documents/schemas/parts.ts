import type { JsonObject } from '../../json.js'

/** Limits of one document (C-76). The size in bytes is limited where bodies are read. */
/** Limits of one document (C-76): bytes of its text, and JSON values, which take much more memory than their text. */
export const DOCUMENT_LIMITS = { bytes: 262_144, values: 20_000 }

export const LIMITS = { capabilities: 1000, tags: 100, examples: 200, bindings: 100, operations: 1000, texts: 1000 }

export const text: JsonObject = { type: 'string' }
export const nonEmptyText: JsonObject = { type: 'string', minLength: 1 }
export const texts: JsonObject = { type: 'array', items: text, maxItems: LIMITS.texts }
export const tags: JsonObject = { type: 'array', items: text, maxItems: LIMITS.tags }
export const timestamp: JsonObject = { type: 'string', format: 'date-time' }
export const object: JsonObject = { type: 'object' }

/** Our extensions to every format: who can find the agent (C-95), and which members only its owner sees. */
export const extensions: JsonObject = {
  visibility: { enum: ['public', 'restricted', 'private'] },
  private: texts,
}
