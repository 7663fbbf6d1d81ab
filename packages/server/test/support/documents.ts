import { readFileSync } from 'node:fs'
import type { JsonObject } from '@switchboard/protocol'

interface Vector {
  id: string
  kind: string
  input: { document?: JsonObject }
}

const vectors: Vector[] = JSON.parse(readFileSync(new URL('../../../../spec/vectors.json', import.meta.url), 'utf8'))

/** A document printed in one of the drafts: FX-T01 (AIDIP-01), FX-T00 (AIDIP-00), FX-HR and FX-D0 (profile), FX-SUM, FX-TC, FX-KB, FX-OR, FX-CDN, FX-SPLIT (directory), FX-DESC (agent.json). */
export function fixture(id: string, changes: JsonObject = {}): JsonObject {
  const document = vectors.find((vector) => vector.id === id)?.input.document
  if (!document) throw new Error(`the vectors have no fixture ${id}`)
  return { ...structuredClone(document), ...changes }
}

/** A small valid AIDIP document. */
export function aidipAgent(changes: JsonObject = {}): JsonObject {
  return {
    name: 'Probe',
    description: 'An agent made for a test, with nothing else to say.',
    capabilities: ['probe'],
    endpoint: 'https://agents.example.net/probe',
    inputs: { text: 'string' },
    outputs: { text: 'string' },
    ...changes,
  }
}
