import type { JsonObject } from '@switchboard/protocol'

/** What OpenAPI says about a parameter of the query, the path or the header. */
export interface Parameter {
  readonly description: string
  readonly schema: JsonObject
  readonly required?: true
}

/** A whole number. */
export const numberParameter = (description: string, minimum = 0): Parameter => ({
  description,
  schema: { type: 'integer', minimum },
})

export const flagParameter = (description: string): Parameter => ({ description, schema: { type: 'boolean' } })

/** An RFC 3339 time. */
export const timeParameter = (description: string): Parameter => ({
  description,
  schema: { type: 'string', format: 'date-time' },
})

export const choiceParameter = (values: readonly string[], description: string): Parameter => ({
  description,
  schema: { type: 'string', enum: [...values] },
})

/** Headers of conditional requests. */
export const IF_MATCH = { 'If-Match': 'only if the agent has this entity tag' }
export const IF_NONE_MATCH = { 'If-None-Match': 'the entity tag of your copy: 304 if it is current' }
