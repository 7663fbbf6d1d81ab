import type { AgentRecord } from '@switchboard/protocol'
import { LANGUAGES_OF_WORD } from '../words/stop-words.js'
import { textFieldsOf } from '../words/text-fields.js'
import { mix32 } from './min-hash.js'
import { plainText } from './plain-text.js'
import { isUnspaced, readTokens } from './read-tokens.js'

/** Distinct words compared for each agent. */
const MAX_WORDS = 1000

/**
 * Hashes of an agent's distinct words without stop words; character bigrams for scripts without spaces. Numbers and
 * trailing digits are dropped, so that numbering copies does not make them different.
 */
export function wordHashes(record: AgentRecord): ReadonlySet<number> {
  const hashes = new Set<number>()
  const { title, description, example } = textFieldsOf(record)
  for (const text of [...title, ...description, ...example]) {
    for (const token of readTokens(plainText(text))) {
      if (hashes.size >= MAX_WORDS) return hashes
      if (isUnspaced(token)) for (let i = 0; i + 1 < token.length; i++) hashes.add(hashOf(token, i, i + 2))
      else if (token.length > 1 && !LANGUAGES_OF_WORD.has(token)) addWord(hashes, token)
    }
  }
  return hashes
}

function addWord(hashes: Set<number>, word: string): void {
  let end = word.length
  while (end > 0 && isDigit(word.charCodeAt(end - 1))) end--
  if (end > 0) hashes.add(hashOf(word, 0, end))
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** FNV-1a of a substring, with a final mix. */
function hashOf(text: string, from: number, to: number): number {
  let hash = 0x811c9dc5
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix32(hash)
}
