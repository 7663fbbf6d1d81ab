import type { Gloss } from '../lexicon/gloss.js'
import { isStopWord } from './stop-words.js'
import { CLAUSE_BORDERS, charactersOfPair, type Token, tokenize } from './tokenize.js'

/** A term that a query is searched for. */
export interface QueryTerm {
  /** As indexed. */
  readonly term: string
  /** As written. */
  readonly word: string
  /** 1, or a little more if the query repeats the term; less for a term that stands for a word of another language. */
  readonly weight: number
  /** Terms of one group mean the same word of the query: the best of them counts. The terms of a group follow each other. */
  readonly group: number
  /** What was searched for instead of the word: its meaning in English. */
  readonly english?: string
  /** Of a word that has other terms: if no agent contains it, nothing is missing. */
  readonly isOptional?: boolean
  /** One character of a pair: it stands for the pair where an agent has only the character. */
  readonly isCharacter?: boolean
}

/** A query as the word index takes it. */
export interface WordQuery {
  /** By group. */
  readonly terms: readonly QueryTerm[]
  /** Terms of the query that are adjacent or have one other between them, in order, as positions in `terms`. */
  readonly bigrams: readonly (readonly [number, number])[]
  /** The first term of an English request with a single clause, which is often its verb, and up to two that follow; as positions in `terms`. */
  readonly action?: readonly number[]
}

/** Further words are ignored: they would only cost time. */
const MAX_GROUPS = 64
/** Meanings of a word that are searched. */
export const MAX_MEANINGS = 2
/** Weights of the first and the second meaning of a word, compared with a word of the query itself. */
const MEANING_WEIGHTS = [0.9, 0.7]
/** Weight of a character of a pair, compared with the pair. */
const CHARACTER_WEIGHT = 0.8

/** A syllable of Hangul says less than a character of Han: on its own it is searched only if it is a word of the query. */
const HAN = /\p{Script=Han}/u

/** The distinct terms of a query without stop words; if it consists of stop words only, all its terms. */
export function parseWordQuery(text: string, language?: string): WordQuery {
  const withoutStopWords = tokenize(text, { language })
  const tokens = withoutStopWords.length > 0 ? withoutStopWords : tokenize(text, { keepStopWords: true })
  const groups = createGroups(language)
  for (const token of tokens) groups.add([{ weight: 1, ...token }])
  const query = groups.query()
  return language === undefined || language === 'en' ? { ...query, action: actionOf(text, query) } : query
}

/** Terms that follow the first one and are searched near it. */
const MAX_OBJECTS = 2

function actionOf(text: string, { terms }: WordQuery): number[] {
  let only: readonly Token[] = []
  for (const clause of text.split(CLAUSE_BORDERS)) {
    const tokens = tokenize(clause)
    if (tokens.length < 2) continue
    if (only.length > 0) return []
    only = tokens
  }
  const positions = only.map((token) => terms.findIndex(({ term }) => term === token.term))
  return [...new Set(positions)].filter((at) => at >= 0).slice(0, 1 + MAX_OBJECTS)
}

/** The terms of a query in another language: its words, and what they mean in English. */
export function glossedWordQuery(glosses: readonly Gloss[], language: string): WordQuery {
  const groups = createGroups(language)
  for (const gloss of glosses) {
    const english = englishTerms(gloss)
    if (english === undefined) continue
    const { tokens } = gloss
    for (let left = Math.max(tokens.length, english.length); left > 0; left--) {
      const own = tokens.at(-left)
      const meanings = english.at(-left) ?? []
      const isOptional = english.length > 0 && meanings.length === 0
      groups.add([...(own ? [{ weight: 1, ...(isOptional && { isOptional }), ...own }] : []), ...meanings])
    }
  }
  return groups.query()
}

type Alternative = Omit<QueryTerm, 'group'>

/**
 * The English terms of a word, by position: those at one position are alternatives. The last word of a term says what it
 * is, so terms of different lengths are aligned at the end. Undefined if the word means only "find", "need" or the like.
 */
function englishTerms({ word, parts }: Gloss): Alternative[][] | undefined {
  const positions = parts.flatMap((meanings) => {
    const [first, ...others] = distinctMeanings(meanings)
    if (!first) return []
    const aligned = first.tokens.map(({ term }): Alternative[] => [
      { term, word, english: first.english, weight: MEANING_WEIGHTS[0] ?? 1 },
    ])
    for (const { tokens, english } of others) {
      for (const [at, { term }] of tokens.entries()) {
        const position = Math.max(0, aligned.length - tokens.length + at)
        aligned[position]?.push({ term, word, english, weight: MEANING_WEIGHTS[1] ?? 1 })
      }
    }
    return aligned
  })
  return parts.length > 0 && positions.length === 0 ? undefined : positions
}

/** The first meanings that differ in the index; none if the first one consists of stop words. */
function distinctMeanings(meanings: readonly string[]): { english: string; tokens: readonly Token[] }[] {
  const found = new Map<string, { english: string; tokens: readonly Token[] }>()
  for (const english of meanings) {
    const tokens = tokenize(english)
    const key = tokens.map(({ term }) => term).join(' ')
    if (key === '' && found.size === 0) return []
    if (key !== '' && !found.has(key)) found.set(key, { english, tokens })
    if (found.size === MAX_MEANINGS) break
  }
  return [...found.values()]
}

/** Collects groups of terms. A term belongs to one group: if a later word has it too, the group counts a little more. */
function createGroups(language: string | undefined) {
  const groups: { alternatives: Alternative[]; count: number }[] = []
  const groupOf = new Map<string, number>()
  const pairs = new Map<string, readonly [number, number]>()
  /** The last two groups. */
  let before: readonly number[] = []

  const follow = (at: number): void => {
    for (const earlier of before) if (earlier !== at) pairs.set(`${earlier} ${at}`, [earlier, at])
    before = [...before.slice(-1), at]
  }

  /** The characters of a group's pair, unless they are words of the query or belong to a pair before it. */
  const charactersOf = (alternatives: readonly Alternative[], group: number): Alternative[] =>
    alternatives
      .flatMap(({ term, english }) => (english === undefined ? charactersOfPair(term) : []))
      .filter((character) => {
        const isFresh = HAN.test(character) && !groupOf.has(character) && !isStopWord(character, language)
        if (isFresh) groupOf.set(character, group)
        return isFresh
      })
      .map((term) => ({ term, word: term, weight: CHARACTER_WEIGHT, isOptional: true, isCharacter: true }))

  return {
    add(alternatives: readonly Alternative[]): void {
      const [primary] = alternatives
      if (!primary) return
      const known = groupOf.get(primary.term)
      const at = known ?? groups.length
      if (at === MAX_GROUPS) return
      follow(at)
      const group = known === undefined ? undefined : groups[known]
      if (group) {
        group.count++
        return
      }
      const meaning = alternatives.find(({ english }) => english !== undefined)
      const repeated = meaning && groups[groupOf.get(meaning.term) ?? -1]
      if (repeated) repeated.count++
      const fresh = alternatives.filter(({ term }) => {
        const isFresh = !groupOf.has(term)
        if (isFresh) groupOf.set(term, at)
        return isFresh
      })
      groups.push({ alternatives: repeated ? fresh.map((each) => ({ isOptional: true, ...each })) : fresh, count: 1 })
    },
    query(): WordQuery {
      const terms = groups.flatMap(({ alternatives, count }, group): QueryTerm[] =>
        [...alternatives, ...charactersOf(alternatives, group)].map(({ weight, ...rest }) => ({
          group,
          weight: (weight * 2 * count) / (count + 1),
          ...rest,
        })),
      )
      const positions = groups.map((): number[] => [])
      for (const [at, { group, isCharacter }] of terms.entries()) if (!isCharacter) positions[group]?.push(at)
      const isEnglish = (at: number): boolean => terms[at]?.english !== undefined
      const bigrams = [...pairs.values()].flatMap(([a, b]) =>
        (positions[a] ?? []).flatMap((first) =>
          (positions[b] ?? []).flatMap((second): (readonly [number, number])[] => {
            if (isEnglish(first) !== isEnglish(second)) return []
            // Other languages put words in another order.
            return isEnglish(first)
              ? [
                  [first, second],
                  [second, first],
                ]
              : [[first, second]]
          }),
        ),
      )
      return { terms, bigrams }
    },
  }
}
