import { readFileSync } from 'node:fs'
import type { JsonObject, JsonValue } from '../src/json.js'

export interface Vector {
  id: string
  draft: string
  section: string
  kind: string
  input: JsonValue
  expect: JsonObject
  note?: string
}

/** The shared test vectors (spec/vectors.md). */
export const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../../../spec/vectors.json', import.meta.url), 'utf8'),
)

/** A document printed in one of the drafts, with members replaced or, if undefined, removed. */
export function fixture(id: string, changes: Record<string, JsonValue | undefined> = {}): JsonObject {
  const input = vectors.find((vector) => vector.id === id)?.input
  const document = typeof input === 'object' && input !== null && !Array.isArray(input) ? input.document : undefined
  if (typeof document !== 'object' || document === null || Array.isArray(document)) throw new Error(`no fixture ${id}`)
  const changed: Record<string, JsonValue | undefined> = { ...structuredClone(document), ...changes }
  return Object.fromEntries(
    Object.entries(changed).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  )
}
