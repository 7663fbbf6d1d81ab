import type { JsonObject } from '@switchboard/protocol'

/** Every setting has a description: the reference of the config file and editors show it. */
export type Setting = (description: string) => JsonObject

const typed =
  (schema: JsonObject): Setting =>
  (description) => ({ ...schema, description })
/** A text. */
export const text = typed({ type: 'string' })
/** A list of texts. */
export const texts = typed({ type: 'array', items: { type: 'string' } })
/** True or false. */
export const flag = typed({ type: 'boolean' })
/** An absolute URL. */
export const url = typed({ type: 'string', format: 'absolute-uri' })
/** A whole number, 1 or more. */
export const count = typed({ type: 'integer', minimum: 1 })
/** A whole number within bounds. */
export const whole = (minimum: number, maximum?: number): Setting =>
  typed({ type: 'integer', minimum, ...(maximum !== undefined && { maximum }) })
/** One of some words. */
export const oneOf = (...values: string[]): Setting => typed({ enum: values })
/** A list of objects. */
export const list = (items: JsonObject, description: string): JsonObject => ({ type: 'array', items, description })
/** An object without other members. */
export const closed = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
/** How descriptions of intervals begin. */
export const SECONDS_BETWEEN = 'seconds between two'
