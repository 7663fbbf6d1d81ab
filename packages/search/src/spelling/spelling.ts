import { isStopWord, LANGUAGES_OF_WORD } from '../words/stop-words.js'
import { HAS_UNSPACED } from '../words/tokenize.js'
import { createVocabulary, type Neighbour, type Vocabulary } from './vocabulary.js'

/** A word of a query, and what was searched for instead. */
export interface Correction {
  readonly from: string
  readonly to: string
}

/** A query after correction. */
export interface CorrectedText {
  readonly text: string
  /** In the order of the text; empty if nothing was corrected. */
  readonly corrections: readonly Correction[]
  /**
   * All words of the query, not counting stop words, if none of them is known or could be corrected. Empty otherwise, also
   * if there are only stop words.
   */
  readonly unknown: readonly string[]
}

/** What the words of a query are compared with. */
export interface SpellingDeps {
  readonly vocabulary: Vocabulary
  /** Words of English. A typo may mean one that no agent contains: embeddings find agents for it. */
  readonly dictionary?: Vocabulary | undefined
  /** Whether an agent has the word, in any form, or a dictionary does. Such a word is never corrected. Lower case. */
  readonly isKnown: (word: string) => boolean
  /** Whether an agent contains both words. */
  readonly occurTogether: (a: string, b: string) => boolean
  readonly language: string | undefined
  /** Corrects nothing. */
  readonly exact?: boolean | undefined
}

/** Words that are corrected need this many letters, and as many as `two` for two edits. */
const MIN_LETTERS = { one: 4, two: 8 }
/** Short words have so many neighbours that only the likeliest slips are corrected: the highest penalty, by letters. */
const MAX_SHORT_PENALTY: Readonly<Record<number, number>> = { 4: 0.1, 5: 0.3 }
/** In a language other than English agents have few words, so that a known one is rather another word; in letters. */
const MIN_FOREIGN = 6
/** The same for longer words: two edits that are both unlikely are rather another word. */
const MAX_PENALTY = 0.6
/** Words of a query that are compared with the vocabulary; bounds the cost of a text of unknown words. */
const MAX_ATTEMPTS = 16
/** In a large directory, a word that fewer than one in this many agents contain is no target: it may be a typo itself. */
const AGENTS_PER_TARGET = 20_000
/** Weights of an edit and of a penalty against the logarithm of the frequency: a word one edit closer may be 50 times rarer. */
const EDIT_WEIGHT = 4
const PENALTY_WEIGHT = 8
/** Letters of the parts that a word is split into; one of them needs a letter more. */
const MIN_PART = 3
/** Letters of a part that is corrected, and of the other part. */
const MIN_CORRECTED_PART = 5
const MIN_INTACT_PART = 4
/** A capitalised word at the start of a sentence may be a name; it needs this many letters to be corrected. */
const MIN_CAPITALISED = 6
/** German nouns are capitalised, so they may be corrected if they are too long to resemble another word by chance. */
const MIN_GERMAN_NOUN = 8
/** Letters of the longest word that is corrected. */
const MAX_LETTERS = 40
const MAX_SUGGESTIONS = 5
/** Letters that a suggestion and a word without similar ones have in common, at the beginning. */
const PREFIX_LETTERS = { least: 2, most: 4 }

/** Runs of letters, digits and underscores, with what belongs to them. */
const TOKENS = /[\p{L}\p{N}\p{M}_]+/gu
const WORD = /^[\p{L}\p{M}]+$/u
/** Quoted passages, and what looks like a URL, an address, a path or a file name: they are searched as they are. */
const VERBATIM =
  /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])|(?<!\S)\S*[/\\@#]\S*|(?<!\S)\S*[\p{L}\p{N}][.:][\p{L}\p{N}]\S*/gu
const SENTENCE_END = /(?:^|[.!?。！？\n])\s*[¿¡(\-–—*]*\s*$/u

interface Token {
  readonly text: string
  readonly lower: string
  readonly from: number
  readonly to: number
  /** Whether it may be corrected: letters only, not quoted, no name. */
  readonly isPlain: boolean
  readonly isCapitalised: boolean
  /** Looked up when it is first needed: names and quoted words often need not be. */
  readonly isKnown: () => boolean
  readonly isStopWord: boolean
}

/**
 * Corrects the words of a query that nobody knows towards words that agents contain. Names, identifiers, numbers, URLs and
 * quoted passages stay as they are.
 */
export function correctSpelling(text: string, deps: SpellingDeps): CorrectedText {
  const tokens = tokensOf(text, deps)
  const { replacements, joined } = deps.exact ? NOTHING : findReplacements(text, tokens, deps)
  const content = tokens.filter((token) => !token.isStopWord && !joined.has(token))
  const isUnknown = content.every((token) => {
    const replacement = replacements.get(token)
    return !token.isKnown() && (replacement === undefined || isStopWord(replacement))
  })
  return {
    ...replaceAll(text, tokens, { replacements, joined }),
    unknown: isUnknown ? content.map(({ text }) => text) : [],
  }
}

/**
 * Words of agents that are similar to words that could not be corrected, the likeliest first. If there are none, words that
 * begin like the first of them.
 */
export function suggestWords(unknown: readonly string[], vocabulary: Vocabulary): string[] {
  const words = unknown.slice(0, MAX_ATTEMPTS).map(lowerCase)
  const least = minFrequency(vocabulary)
  const near = words.flatMap((word) => vocabulary.neighboursOf(word, word.length < MIN_LETTERS.one ? 1 : 2, least))
  if (near.length > 0) return [...new Set(near.sort(byScore).map(({ word }) => word))].slice(0, MAX_SUGGESTIONS)
  const [first = ''] = words
  for (let letters = Math.min(PREFIX_LETTERS.most, first.length); letters >= PREFIX_LETTERS.least; letters--) {
    const found = vocabulary.startingWith(first.slice(0, letters), MAX_SUGGESTIONS, least)
    if (found.length > 0) return found
  }
  return []
}

const lowerCase = (word: string): string => word.normalize('NFKC').toLowerCase()

interface Replacements {
  readonly replacements: ReadonlyMap<Token, string>
  /** Tokens that the replacement of the one before includes. */
  readonly joined: ReadonlySet<Token>
}

const NOTHING: Replacements = { replacements: new Map(), joined: new Set() }

function findReplacements(text: string, tokens: readonly Token[], deps: SpellingDeps): Replacements {
  const replacements = new Map<Token, string>()
  const joined = new Set<Token>()
  let attempts = 0
  for (const [i, token] of tokens.entries()) {
    if (joined.has(token)) continue
    const next = tokens[i + 1]
    if (next && canJoin(text, token, next, deps)) {
      replacements.set(token, token.lower + next.lower)
      joined.add(next)
      continue
    }
    const isCandidate = token.isPlain && token.lower.length >= MIN_LETTERS.one && !token.isKnown()
    if (!isCandidate || attempts++ >= MAX_ATTEMPTS) continue
    const better = correctWord(token, deps)
    if (better !== undefined) replacements.set(token, better)
  }
  return { replacements, joined }
}

function tokensOf(text: string, { isKnown, language }: SpellingDeps): Token[] {
  const verbatim = Array.from(text.matchAll(VERBATIM), ({ 0: { length }, index }) => [index, index + length] as const)
  const isShouted = text === text.toUpperCase()
  return Array.from(text.matchAll(TOKENS), ({ 0: word, index }) => {
    const lower = lowerCase(word)
    const isUpper = !isShouted && word.length > 1 && word === word.toUpperCase() && word !== lower
    const isCapitalised = !isShouted && word[0] !== lower[0]
    const hasInnerCapital = !isShouted && word.slice(1) !== lower.slice(1)
    const startsSentence = SENTENCE_END.test(text.slice(Math.max(0, index - 8), index))
    const isGermanNoun = language === 'de' && lower.length >= MIN_GERMAN_NOUN
    const isName = isUpper || hasInnerCapital || (isCapitalised && !startsSentence && !isGermanNoun)
    const isQuoted = verbatim.some(([from, to]) => index >= from && index < to)
    const isCommon = isStopWord(lower, language) || LANGUAGES_OF_WORD.has(lower)
    let known: boolean | undefined
    return {
      text: word,
      lower,
      from: index,
      to: index + word.length,
      isPlain: WORD.test(word) && !HAS_UNSPACED.test(word) && !isQuoted && !isName,
      isCapitalised,
      isStopWord: isCommon,
      isKnown: () => (known ??= isCommon || isKnown(lower)),
    }
  })
}

/** Whether two words of the query are one word of the agents: "time zone" for "timezone". */
function canJoin(text: string, a: Token, b: Token, { vocabulary }: SpellingDeps): boolean {
  if (!a.isPlain || !b.isPlain || !/^[ -]$/.test(text.slice(a.to, b.from))) return false
  const word = a.lower + b.lower
  if (word.length <= MIN_LETTERS.one || vocabulary.frequencyOf(word) < minFrequency(vocabulary)) return false
  return !a.isKnown() || !b.isKnown()
}

function correctWord({ lower: word, isCapitalised }: Token, deps: SpellingDeps): string | undefined {
  const { vocabulary, dictionary, language = 'en' } = deps
  if (word.length > MAX_LETTERS) return undefined
  const least = minFrequency(vocabulary)
  const common = (most: number): Neighbour[] => commonNeighbours(word, language, most)
  const near = (most: number): string | undefined =>
    bestOf([
      ...vocabulary.neighboursOf(word, most, least).filter(isLikelySlip(word)),
      ...(language === 'en' ? (dictionary?.neighboursOf(word, most, 1) ?? []).filter(isLikelySlip(word)) : []).map(
        asRare,
      ),
      ...common(most),
    ])
  const isShort = word.length < (isCapitalised ? MIN_CAPITALISED : MIN_LETTERS.one)
  if (language !== 'en' && word.length < MIN_FOREIGN) return undefined
  if (isShort) return bestOf(common(1))
  const isLong = language === 'en' && word.length >= MIN_LETTERS.two
  return near(1) ?? split(word, deps, false) ?? (isLong ? (near(2) ?? split(word, deps, true)) : undefined)
}

const minFrequency = ({ agents }: Vocabulary): number => Math.max(1, Math.round(agents / AGENTS_PER_TARGET))

const scoreOf = ({ frequency, distance, penalty }: Neighbour): number =>
  Math.log(frequency) - EDIT_WEIGHT * distance - PENALTY_WEIGHT * penalty

const byScore = (a: Neighbour, b: Neighbour): number =>
  scoreOf(b) - scoreOf(a) || (a.word < b.word ? -1 : a.word > b.word ? 1 : 0)

const bestOf = (neighbours: readonly Neighbour[]): string | undefined => neighbours.toSorted(byScore)[0]?.word

/** Whether the word was probably meant, and not another one that nobody knows. */
const isLikelySlip = (typed: string): ((meant: Neighbour) => boolean) => {
  const limit = MAX_SHORT_PENALTY[typed.length] ?? MAX_PENALTY
  return ({ penalty }) => penalty <= limit
}

/** Two words that were typed without a space; with `corrects`, one of them may be misspelled as well. */
function split(word: string, { vocabulary, occurTogether }: SpellingDeps, corrects: boolean): string | undefined {
  const least = minFrequency(vocabulary)
  const wordsFor = (part: string): Pick<Neighbour, 'word' | 'frequency'>[] => {
    const frequency = vocabulary.frequencyOf(part)
    if (frequency >= least) return [{ word: part, frequency }]
    if (!corrects || part.length < MIN_CORRECTED_PART || word.length - part.length < MIN_INTACT_PART) return []
    const [best] = vocabulary.neighboursOf(part, 1, least).sort(byScore)
    return best ? [best] : []
  }
  let best: { words: string; score: number } | undefined
  for (let at = MIN_PART; at <= word.length - MIN_PART; at++) {
    const [left, right] = [word.slice(0, at), word.slice(at)]
    const isShort = left.length === MIN_PART && right.length === MIN_PART
    // At most one part is corrected.
    if (isShort || (vocabulary.frequencyOf(left) < least && vocabulary.frequencyOf(right) < least)) continue
    const [[a], [b]] = [wordsFor(left), wordsFor(right)]
    if (!a || !b || !occurTogether(a.word, b.word)) continue
    const score = Math.log(a.frequency) + Math.log(b.frequency)
    if (!best || score > best.score) best = { words: `${a.word} ${b.word}`, score }
  }
  return best?.words
}

function replaceAll(
  text: string,
  tokens: readonly Token[],
  { replacements, joined }: Replacements,
): Pick<CorrectedText, 'text' | 'corrections'> {
  const corrections: Correction[] = []
  let [corrected, at] = ['', 0]
  for (const [i, token] of tokens.entries()) {
    const word = replacements.get(token)
    if (word === undefined) continue
    const next = tokens[i + 1]
    const end = next && joined.has(next) ? next.to : token.to
    corrections.push({ from: text.slice(token.from, end), to: word })
    corrected += text.slice(at, token.from) + word
    at = end
  }
  return { text: corrected + text.slice(at), corrections }
}

/** Shorter stop words resemble too many words; in letters. */
const MIN_COMMON = 3
/** Vocabularies of stop words, by language. */
const commonWords = new Map<string, Vocabulary>()

/** Stop words that are similar to a word: they are frequent in queries, whatever agents contain. */
function commonNeighbours(word: string, language: string, most: number): Neighbour[] {
  return [...new Set(['en', language])]
    .flatMap((each) => commonWordsOf(each).neighboursOf(word, most, 1))
    .map(asFrequent)
}

/** As frequent as a word that every agent of a directory of this size contains. */
const COMMON_FREQUENCY = 500
const asFrequent = (neighbour: Neighbour): Neighbour => ({ ...neighbour, frequency: COMMON_FREQUENCY })

/** A word of the dictionary is preferred only if no agent has a word that is about as similar. */
const RARE_FREQUENCY = 0.3
const asRare = (neighbour: Neighbour): Neighbour => ({ ...neighbour, frequency: RARE_FREQUENCY })

function commonWordsOf(language: string): Vocabulary {
  const known = commonWords.get(language)
  if (known) return known
  const vocabulary = createVocabulary()
  for (const [word, languages] of LANGUAGES_OF_WORD)
    if (languages.includes(language) && word.length >= MIN_COMMON) vocabulary.addWord(word)
  commonWords.set(language, vocabulary)
  return vocabulary
}
