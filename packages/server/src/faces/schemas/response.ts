import { type JsonObject, NDJSON } from '@switchboard/protocol'
import { text } from './parts.js'

/** What OpenAPI says about a response. */
export interface DescribedResponse {
  readonly description: string
  /** The schema of the body, by media type. */
  readonly content: Readonly<Record<string, JsonObject>>
}

export const json = (description: string, schema: JsonObject): DescribedResponse => ({
  description,
  content: { 'application/json': schema },
})

/** A text with one JSON value per line, each of this schema. */
export const linesOf = (schema: JsonObject): JsonObject => ({
  ...text,
  contentMediaType: NDJSON.type,
  contentSchema: schema,
})

export const lines = (description: string, schema: JsonObject): DescribedResponse => ({
  description,
  content: { [NDJSON.type]: linesOf(schema) },
})

/** A text that has no schema. */
export const plain = (description: string, type: string): DescribedResponse => ({
  description,
  content: { [type]: text },
})

/** A response whose status usually has a body, but this one has none. */
export const empty = (description: string): DescribedResponse => ({ description, content: {} })
