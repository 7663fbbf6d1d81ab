import type { JsonObject } from '@switchboard/protocol'

export const text: JsonObject = { type: 'string' }
export const flag: JsonObject = { type: 'boolean' }
export const count: JsonObject = { type: 'integer', minimum: 0 }
export const amount: JsonObject = { type: 'number', minimum: 0 }
export const time: JsonObject = { type: 'string', format: 'date-time' }
export const texts: JsonObject = { type: 'array', items: text }
/** Any JSON. */
export const anything: JsonObject = {}
/** An object with any members. */
export const anyObject: JsonObject = { type: 'object', additionalProperties: true }
export const counts: JsonObject = { type: 'object', additionalProperties: count }

export const list = (items: JsonObject): JsonObject => ({ type: 'array', items })
export const oneOf = (...values: readonly string[]): JsonObject => ({ type: 'string', enum: [...values] })

/** All members are required, except those that are named. */
export const object = (properties: JsonObject, ...optional: string[]): JsonObject => {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', ...(required.length > 0 && { required }), properties }
}
