import type { Gloss } from '../lexicon/gloss.js'
import { englishWords, glossText, knownShare, sentencesOf } from '../lexicon/gloss-record.js'
import { type Lexicon, openLexicon } from '../lexicon/lexicon.js'
import { recogniseLanguage } from '../lexicon/recognise-language.js'
import { latinShare, tokenize } from '../words/tokenize.js'
import { glossedWordQuery, parseWordQuery, type WordQuery } from '../words/word-query.js'

/** A request of several sentences often contains several tasks; this many sentences are embedded on their own. */
const MAX_SENTENCES = 4
/** Terms, without stop words, that a sentence needs to be embedded on its own: "Hello, chatbot!" is not a task. */
const MIN_SENTENCE_TERMS = 3
/** Longer queries are truncated, in characters: no model reads them to the end. */
export const MAX_QUERY_LENGTH = 2000

/** Semantic weight of a query in a Latin-script language that the model does not know: it recognises loan words and names. */
const OTHER_LATIN_WEIGHT = 0.3
/** Share of Latin letters below which an English model sees only unknown tokens. */
const MIN_LATIN_SHARE = 0.5

/** A parsed query. */
export interface Query {
  readonly text: string
  readonly words: WordQuery
  /** Texts to embed: the whole query, then its sentences. An agent's similarity is the maximum over them. */
  readonly texts: readonly string[]
  /** The language the query is written in, as a primary BCP 47 subtag; undefined if not recognised. */
  readonly language: string | undefined
  /** Of agents that fit alike, those described in one of these languages come first. */
  readonly preferredLanguages: readonly string[]
  /** Languages the query mentions: "translate to Chinese" (AIDIP-00 §5.4). */
  readonly namedLanguages: readonly string[]
  /** How much embeddings count for this query, 0 to 1: 0 if the model does not know its language. */
  readonly semanticWeight: number
  /** The texts for the static embedding, which knows English: glossed if the query is in another language. */
  readonly englishTexts: readonly string[]
  /** How much the static embedding counts for this query, 0 to 1. */
  readonly englishWeight: number
  /** Cosine that an agent needs if it contains no word of the query. Default: any. */
  readonly minSimilarity?: number
}

/** Options of `readQuery`. */
export interface QueryOptions {
  /** Languages that the embedding model knows, as primary BCP 47 subtags. Default: English, like the built-in model. */
  modelLanguages?: readonly string[] | 'all' | undefined
  /** What words of other languages mean. Default: the lexicon of this package. */
  lexicon?: Lexicon | undefined
  /** Languages that the caller reads, as primary BCP 47 subtags; they count if the query's own is not recognised. Default: English. */
  callerLanguages?: readonly string[] | undefined
  /** The language that the query is written in, if it has been recognised before: that takes a third of the time. */
  language?: string | undefined
}

/**
 * Parses a query for word search, embedding and ranking.
 *
 * @example
 * readQuery('Translate this contract to Chinese').namedLanguages // ['zh']
 */
export function readQuery(
  text: string,
  { modelLanguages = ['en'], lexicon = openLexicon(), callerLanguages = [], ...known }: QueryOptions = {},
): Query {
  const truncated = text.slice(0, MAX_QUERY_LENGTH)
  const language = known.language ?? recogniseLanguage(truncated, lexicon)
  const glossed = language === undefined || language === 'en' ? undefined : glossesOf(truncated, language, lexicon)
  const isModelLanguage = modelLanguages === 'all' || (language !== undefined && modelLanguages.includes(language))
  const english = glossed && englishTexts(glossed)
  const ownTexts = [...new Set([truncated, ...sentencesOf(truncated).filter((each) => isTask(each, language))])].slice(
    0,
    1 + MAX_SENTENCES,
  )
  const englishWeight = glossed ? knownShare(glossed.flat()) : semanticWeight(truncated, language)
  return {
    text: truncated,
    language,
    preferredLanguages: preferredLanguages(language, callerLanguages),
    namedLanguages: english ? namedInGlosses(english) : namedLanguages(truncated),
    words: glossed ? glossedWordQuery(glossed.flat(), language ?? '') : parseWordQuery(truncated, language),
    texts: isModelLanguage ? ownTexts : (english ?? ownTexts),
    semanticWeight: isModelLanguage ? 1 : englishWeight,
    englishTexts: english ?? ownTexts,
    englishWeight,
  }
}

function preferredLanguages(language: string | undefined, callerLanguages: readonly string[]): readonly string[] {
  if (language !== undefined) return [language]
  return callerLanguages.length > 0 ? callerLanguages : ['en']
}

const isTask = (sentence: string, language: string | undefined): boolean =>
  tokenize(sentence, { language }).length >= MIN_SENTENCE_TERMS

/** The glosses of each sentence; undefined if the lexicon does not know a word of them. */
function glossesOf(text: string, language: string, lexicon: Lexicon): Gloss[][] | undefined {
  const glosses = glossText(text, language, lexicon)
  return glosses.some((sentence) => sentence.some(({ parts }) => parts.length > 0)) ? glosses : undefined
}

/** The whole query in English, word by word, then its sentences. */
function englishTexts(sentences: readonly (readonly Gloss[])[]): string[] {
  const texts = sentences.map((glosses) => glosses.flatMap(englishWords).join(' '))
  const tasks = texts.filter((sentence) => isTask(sentence, 'en')).slice(0, MAX_SENTENCES)
  return [...new Set([texts.join('. '), ...tasks])]
}

/** Words that make the name of a language one, rather than a cuisine. */
const ABOUT_LANGUAGES = /\b(?:translat|interpret|speak|language|learn|writ)/i

/** Languages that a query in another language names; its small words, such as "to", are not glossed. */
function namedInGlosses(texts: readonly string[]): string[] {
  const [whole = ''] = texts
  if (!ABOUT_LANGUAGES.test(whole)) return []
  return [...new Set(whole.split(/\W+/).flatMap((word) => TAG_OF_NAME.get(word.toLowerCase()) ?? []))]
}

function semanticWeight(text: string, language: string | undefined): number {
  if (latinShare(text) < MIN_LATIN_SHARE) return 0
  return language === undefined || language === 'en' ? 1 : OTHER_LATIN_WEIGHT
}

/** Languages that queries mention; `Intl` supplies their English names. */
const TAGS =
  'af am ar az bg bn ca cs da de el en es et fa fi fil fr ga gu he hi hr hu hy id is it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl pa pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi yo zh zu'

const NAMES = new Intl.DisplayNames('en', { type: 'language' })

const TAG_OF_NAME: ReadonlyMap<string, string> = new Map([
  ...TAGS.split(' ').map((tag) => [(NAMES.of(tag) ?? tag).toLowerCase(), tag] as const),
  ['mandarin', 'zh'],
  ['farsi', 'fa'],
  ['norwegian', 'nb'],
])

/** "Chinese" alone may be a cuisine; after one of these words it is a language. */
const NAMED = /\b(?:to|into|in|from|and|between|speaks?|speaking|understands?)\s+(\p{L}+)/giu

/** Primary BCP 47 subtags of the languages that an English text mentions: "to Chinese", "from German into French". */
export function namedLanguages(text: string): string[] {
  const tags = new Set<string>()
  for (const [, name = ''] of text.matchAll(NAMED)) {
    const tag = TAG_OF_NAME.get(name.toLowerCase())
    if (tag) tags.add(tag)
  }
  return [...tags]
}
