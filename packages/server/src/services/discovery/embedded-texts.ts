import { createHash } from 'node:crypto'
import { embeddingTextsOf, glossRecord, type Lexicon } from '@switchboard/search'
import type { Agent } from '../registry/catalog.js'

/** What is embedded of an agent. */
export interface EmbeddedTexts {
  /** The texts to embed; nothing private is sent to the model. */
  textsOf(agent: Agent): string[]
  /** Identifies these texts: a document that changes elsewhere keeps its vectors. */
  digestOf(texts: readonly string[]): string
}

/**
 * Texts in a language that the model does not know are embedded in English, word by word.
 *
 * @param languages what the model knows
 */
export function createEmbeddedTexts(languages: readonly string[] | 'all', lexicon: Lexicon): EmbeddedTexts {
  const textsOf = ({ shown }: Agent): string[] => {
    const texts = embeddingTextsOf(shown).map(({ text }) => text)
    const gloss = languages === 'all' ? undefined : glossRecord(shown, lexicon)
    return gloss && !languages.includes(gloss.language) ? texts.map(gloss.english) : texts
  }
  return {
    textsOf,
    digestOf(texts) {
      const hash = createHash('sha1')
      for (const text of texts) hash.update(text).update('\0')
      return hash.digest('base64url')
    },
  }
}
