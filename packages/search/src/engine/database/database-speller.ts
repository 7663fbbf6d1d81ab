import { createSpeller, type KnownWords, type Speller } from '../../spelling/speller.js'
import { createVocabulary, type Vocabulary } from '../../spelling/vocabulary.js'
import { tokenize } from '../../words/tokenize.js'
import type { Corpus } from './corpus.js'
import type { TextTables } from './text-tables.js'

/** Words in memory: about 20 MB. Queries are not corrected towards rarer ones. */
const MAX_WORDS = 200_000
/** How often the database is asked for one text. What it was not asked by then counts as no. */
const MAX_ROUNDS = 8

/** Corrects queries towards the words of the public agents in the tables. */
export interface DatabaseSpeller {
  /** To be used within `answering` only. */
  readonly speller: Speller
  /** Does work that corrects or suggests, and again until the database has answered all that it asks. */
  answering<T>(privateAgents: readonly number[], work: () => T): Promise<T>
  /** Agents with these words were stored. */
  learn(words: readonly string[]): Promise<void>
}

/** What one text needs to know of the database. */
interface Inquiry {
  /** Whether a private agent that the caller sees contains a term. */
  readonly private: Map<string, boolean | undefined>
  /** Whether two words occur together, by both. */
  readonly together: Map<string, { readonly a: string; readonly b: string; readonly answer: boolean | undefined }>
  /** Words that the caller would see. */
  readonly proposed: Set<string>
}

const termsOf = (word: string): string[] => tokenize(word, { keepStopWords: true }).map(({ term }) => term)

/**
 * The most frequent words are in memory, because similar ones are searched among them. They are proposals: whether agents
 * still contain a word, which other processes may have removed, is asked when it is about to be used.
 */
export function createDatabaseSpeller(tables: TextTables, corpus: Corpus, known: KnownWords): DatabaseSpeller {
  const words = createVocabulary()
  const vocabulary: Vocabulary = {
    ...words,
    get size() {
      return words.size
    },
    get agents() {
      return corpus.agents
    },
  }
  /** Of the text that is being read. */
  let inquiry: Inquiry = { private: new Map(), together: new Map(), proposed: new Set() }
  let loaded: Promise<void> | undefined

  const inner = createSpeller(
    {
      frequencyOf: (word) => Math.max(0, ...termsOf(word).map(corpus.frequencyOf)),
      contains: (_agent, word) =>
        termsOf(word).some((term) => {
          if (!inquiry.private.has(term)) inquiry.private.set(term, undefined)
          return inquiry.private.get(term) ?? false
        }),
      occurTogether(a, b) {
        const key = `${a} ${b}`
        const asked = inquiry.together.get(key) ?? { a, b, answer: undefined }
        inquiry.together.set(key, asked)
        return asked.answer ?? false
      },
    },
    known,
    vocabulary,
  )

  const load = async (): Promise<void> => {
    for (const [word, agents] of await tables.words(MAX_WORDS)) words.setWord(word, agents)
  }

  /** Reads how many agents contain the words now; returns whether there are none left for one of them. */
  const update = async (asked: readonly string[]): Promise<boolean> => {
    const found = asked.length > 0 ? await tables.wordFrequencies(asked) : new Map<string, number>()
    let isGone = false
    for (const word of asked) {
      const [before, now] = [words.frequencyOf(word), found.get(word) ?? 0]
      if (before > 0 || words.size < MAX_WORDS) words.setWord(word, now)
      isGone ||= before > 0 && now === 0
    }
    return isGone
  }

  /** Asks the database what is not answered yet; returns whether anything was. */
  const answer = async (own: Inquiry, privateAgents: readonly number[]): Promise<boolean> => {
    const terms = [...own.private].flatMap(([term, known]) => (known === undefined ? term : []))
    if (terms.length > 0) {
      const found = await tables.termsAmong(privateAgents, terms)
      for (const term of terms) own.private.set(term, found.has(term))
    }
    const pairs = [...own.together].filter(([, { answer }]) => answer === undefined)
    for (const [key, { a, b }] of pairs)
      own.together.set(key, { a, b, answer: await tables.occurTogether(termsOf(a), termsOf(b)) })
    return terms.length + pairs.length > 0
  }

  return {
    speller: {
      put() {},
      remove() {},
      correct(text, options) {
        const corrected = inner.correct(text, options)
        for (const { to } of corrected.corrections) for (const word of to.split(' ')) inquiry.proposed.add(word)
        return corrected
      },
      suggest(unknown) {
        const suggested = inner.suggest(unknown)
        for (const word of suggested) inquiry.proposed.add(word)
        return suggested
      },
    },
    async answering(privateAgents, work) {
      loaded ??= load().catch((error: unknown) => {
        loaded = undefined
        throw error
      })
      await loaded
      const own: Inquiry = { private: new Map(), together: new Map(), proposed: new Set() }
      const attempt = (): ReturnType<typeof work> => {
        inquiry = own
        own.proposed.clear()
        return work()
      }
      for (let round = 1; ; round++) {
        const { result, isComplete } = await corpus.complete(attempt)
        // Words of the dictionary, which no agent contains, are not in the vocabulary.
        const proposed = [...own.proposed].filter((word) => words.frequencyOf(word) > 0)
        const isAnswered = !(await answer(own, privateAgents))
        if ((isComplete && isAnswered && !(await update(proposed))) || round === MAX_ROUNDS) return result
      }
    },
    async learn(learned) {
      await loaded
      await update(learned)
    },
  }
}
