import type { AgentRecord } from '@switchboard/protocol'
import { Postings } from './postings.js'

/** Finds agents by the words of a query. */
export interface WordIndex {
  put(number: number, record: AgentRecord): void
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

  const remove = (number: number): void => {
    for (const word of wordsOf.get(number) ?? []) postings.remove(word, number)
    wordsOf.delete(number)
  }

  return {
    put(number, record) {
      remove(number)
      const words = [...new Set(tokenize(textOf(record)))]
      wordsOf.set(number, words)
      for (const word of words) postings.add(word, number)
    },
    remove,
    search(query) {
      const weights = [...new Set(tokenize(query))].map((word) => {
        const list = postings.get(word)
        return { list, weight: Math.log(1 + wordsOf.size / (1 + list.length)) }
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
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => !STOP_WORDS.has(word)).map(stem)
}

const STOP_WORDS = new Set(
  'a an and are as at be by for from i in into is it need of on or that the this to with'.split(' '),
)

/** Enough for one word to meet another of its family: translate, translates, translation. */
function stem(word: string): string {
  if (word.length < 5) return word.replace(/s$/, '')
  return word.replace(/(ations?|ators?|ates?|ating|ings?|ions?|ers?|ors?|ies|es|ed|s|e)$/, '')
}
