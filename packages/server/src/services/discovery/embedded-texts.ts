import { createHash } from 'node:crypto'
import { embeddingTextsOf } from '@switchboard/search'
import type { Agent } from '../registry/catalog.js'

/** The texts to embed; nothing private is sent to the model. */
export const textsOf = ({ shown }: Agent): string[] => embeddingTextsOf(shown).map(({ text }) => text)

/** Identifies the embedded texts: a document that changes elsewhere keeps its vectors. */
export function digestOf(agent: Agent): string {
  const hash = createHash('sha1')
  for (const text of textsOf(agent)) hash.update(text).update('\0')
  return hash.digest('base64url')
}
