import type { JsonObject } from '@switchboard/protocol'
import { openObjects } from './open-objects.js'

const PREFIX = '#/components/schemas/'

const schemas = new Map<string, JsonObject>()

/**
 * Names a schema, which OpenAPI then has once, under this name, if any route uses it. Returns the reference to use in its
 * place.
 *
 * @example
 * const agentSummary = component('AgentSummary', object({ id: text, name: text }))
 * const page = object({ agents: list(agentSummary), count })
 */
export function component(name: string, { $id: _, ...schema }: JsonObject): JsonObject {
  if (schemas.has(name)) throw new Error(`there are two schemas with the name ${name}`)
  schemas.set(name, openObjects(schema))
  return { $ref: PREFIX + name }
}

/** The named schemas that a value refers to, directly or not, in the order of their names. */
export function componentsOf(value: unknown): JsonObject {
  const found = new Map<string, JsonObject>()
  const collect = (part: unknown): void => {
    JSON.stringify(part, (key, member) => {
      if (key !== '$ref' || typeof member !== 'string' || !member.startsWith(PREFIX)) return member
      const name = member.slice(PREFIX.length)
      const schema = schemas.get(name)
      if (!schema) throw new Error(`there is no schema with the name ${name}`)
      if (!found.has(name)) {
        found.set(name, schema)
        collect(schema)
      }
      return member
    })
  }
  collect(value)
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
