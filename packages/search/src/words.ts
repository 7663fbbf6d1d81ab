import type { AgentRecord } from '@switchboard/protocol'
import { Postings } from './postings.js'

/** Finds agents by the words of a query. */
export interface WordIndex {
  /** `open`: everybody may see the agent, so its words count when it is asked how rare a word is. */
  put(number: number, record: AgentRecord, open: boolean): void
  remove(number: number): void
  /** Agents that have at least one word of the query, with a score from 0 to 1. */
  search(query: string): Map<number, number>
}

/**
 * Words of name, description, tags, capabilities, operations and examples; each counts by how rare it is, and an
 * agent's score is the share of the query's weight that it has.
 */
export function createWordIndex(): WordIndex {
  const postings = new Postings()
  const wordsOf = new Map<number, readonly string[]>()
  /** How many hidden agents have a word: a score that counted them would tell strangers what they say. */
  const hiddenFrequency = new Map<string, number>()
  const hidden = new Set<number>()

  const countHidden = (word: string, change: 1 | -1): void => {
    const left = (hiddenFrequency.get(word) ?? 0) + change
    if (left > 0) hiddenFrequency.set(word, left)
    else hiddenFrequency.delete(word)
  }

  const remove = (number: number): void => {
    const wasHidden = hidden.delete(number)
    for (const word of wordsOf.get(number) ?? []) {
      postings.remove(word, number)
      if (wasHidden) countHidden(word, -1)
    }
    wordsOf.delete(number)
  }

  const rarity = (word: string, found: number): number => {
    const agents = wordsOf.size - hidden.size
    return Math.log(1 + (1 + agents) / (1 + found - (hiddenFrequency.get(word) ?? 0)))
  }

  return {
    put(number, record, isOpen) {
      remove(number)
      const words = [...new Set(tokenize(textOf(record)))]
      wordsOf.set(number, words)
      if (!isOpen) hidden.add(number)
      for (const word of words) {
        postings.add(word, number)
        if (!isOpen) countHidden(word, 1)
      }
    },
    remove,
    search(query) {
      const weights = [...new Set(tokenize(query))].map((word) => {
        const list = postings.get(word)
        return { list, weight: rarity(word, list.length) }
      })
      const total = weights.reduce((sum, { weight }) => sum + weight, 0)
      const scores = new Map<number, number>()
      for (const { list, weight } of weights) {
        for (const number of list) scores.set(number, (scores.get(number) ?? 0) + weight / total)
      }
      return scores
    },
  }
}

function textOf(record: AgentRecord): string {
  return [
    record.name,
    record.description,
    ...record.tags,
    ...record.capabilities.flatMap(({ name, description }) => [name, description ?? '']),
    ...record.operations.flatMap(({ name, description }) => [name, description ?? '']),
    ...record.examples.map(({ text }) => text),
  ].join(' ')
}

/** Lower-case stems of the words that say something. */
export function tokenize(text: string): string[] {
  const stems: string[] = []
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (!STOP_WORDS.has(word)) stems.push(stemOnce(word))
  }
  return stems
}

const STOP_WORDS = new Set(
  'a an and are as at be by for from i in into is it need of on or that the this to with'.split(' '),
)

/** Words come again and again: a start reads millions, of some ten thousand kinds. */
const stems = new Map<string, string>()
const MAX_STEMS = 100_000

function stemOnce(word: string): string {
  let known = stems.get(word)
  if (known === undefined) {
    known = stem(word)
    if (stems.size < MAX_STEMS) stems.set(word, known)
  }
  return known
}

/** Enough for one word to meet another of its family: translate, translates, translation. */
function stem(word: string): string {
  if (word.length < 5) return word.replace(/s$/, '')
  return word.replace(/(ations?|ators?|ates?|ating|ings?|ions?|ers?|ors?|ies|es|ed|s|e)$/, '')
}
