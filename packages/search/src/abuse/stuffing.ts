import type { AgentRecord, Capability } from '@switchboard/protocol'
import { LANGUAGES_OF_WORD } from '../words/stop-words.js'
import { visitTexts } from './document-texts.js'
import { isListSeparator, isSentenceEnd, isUnspaced, plainText } from './plain-text.js'

/** Shorter texts may repeat a word for good reasons. */
const MIN_WORDS = 12
/** A word is stuffed if it makes up this share of the words without stop words, and occurs this often. */
const WORD_SHARE = 0.3
const MIN_REPEATS = 10
/** The same for a higher share. */
const HIGH_WORD_SHARE = 0.5
const MIN_HIGH_SHARE_REPEATS = 7
/** In any window of this many words, at least this share must be distinct; tables and code come close, prose never. */
const WINDOW = 40
const MIN_DISTINCT = 0.2
/** Consecutive words without a stop word: not a sentence, and too long for a useful list. */
const MAX_LIST_WORDS = 50
/** The same for a list with few distinct stems: "translate, translator, translation online". */
const MAX_REPEATING_LIST_WORDS = 16
const REPEATING_LIST_DISTINCT = 0.6
/** Maximum share of foreign stop words in a list: "ai" is a stop word in some language, but a keyword here. */
const MAX_FOREIGN_STOP_WORDS = 0.1
/** Consecutive list items of a few words each. */
const MAX_LIST_ITEMS = 40
const MAX_ITEM_WORDS = 3
const MAX_ITEM_LETTERS = 8

/** Schemas list allowed values and may repeat a word in each, so all limits are multiplied by this factor. */
const TOLERANCE = { prose: 1, schema: 4 }

/** Length of the prefix that serves as a stem: good enough for counting, too coarse for search. */
const STEM_LETTERS = 6

/** Finds repeated words and passages, and long keyword lists; returns the message of a finding. */
export function findKeywordStuffing(
  tokens: readonly string[],
  place: 'prose' | 'schema' = 'prose',
): string | undefined {
  const tolerance = TOLERANCE[place]
  if (tokens.length < MIN_WORDS * tolerance) return undefined
  const stems: number[] = []
  const list = createListDetector(tolerance)
  for (const token of tokens) {
    if (isListSeparator(token)) list.separator()
    else if (isSentenceEnd(token)) list.sentenceEnd()
    else if (isUnspaced(token)) {
      for (let i = 0; i < token.length; i += UNSPACED_STEM) stems.push(stemOf(token, i, i + UNSPACED_STEM))
      list.unspacedRun(token.length)
    } else {
      const languages = LANGUAGES_OF_WORD.get(token)
      if (languages) {
        if (languages.includes('en')) list.sentenceEnd()
        else list.foreignStopWord()
        continue
      }
      const stem = isNumber(token) ? NUMBER : stemOf(token, 0, STEM_LETTERS)
      if (token.length > 2 || stem === NUMBER) stems.push(stem)
      list.word(stem)
    }
  }
  const repetition = repeatedWord(stems, tolerance) ?? repeatedPassage(stems, tolerance)
  return repetition ?? (list.isLong ? 'is a long list of keywords without sentences' : undefined)
}

/** Characters that count as a word in scripts without spaces. */
const UNSPACED_STEM = 2
/** The stem of every number: numbers do not help a ranking, so repeating them is not stuffing. */
const NUMBER = 0

/** A hash of a prefix: numbers are faster to count than strings. */
function stemOf(word: string, from: number, to: number): number {
  let stem = 7
  for (let i = from; i < to && i < word.length; i++) stem = (Math.imul(stem, 31) + word.charCodeAt(i)) | 0
  return stem
}

const isNumber = (token: string): boolean => {
  const code = token.charCodeAt(0)
  return code >= 0x30 && code <= 0x39
}

function repeatedWord(stems: readonly number[], tolerance: number): string | undefined {
  if (stems.length < MIN_HIGH_SHARE_REPEATS * tolerance) return undefined
  const counts = new Map<number, number>()
  let most = 0
  for (const stem of stems) {
    if (stem === NUMBER) continue
    const count = (counts.get(stem) ?? 0) + 1
    counts.set(stem, count)
    if (count > most) most = count
  }
  const isStuffed =
    (most >= MIN_REPEATS * tolerance && most >= stems.length * WORD_SHARE) ||
    (most >= MIN_HIGH_SHARE_REPEATS * tolerance && most >= stems.length * HIGH_WORD_SHARE)
  return isStuffed ? 'repeats one word many times' : undefined
}

function repeatedPassage(stems: readonly number[], tolerance: number): string | undefined {
  const window = WINDOW * tolerance
  if (stems.length < window) return undefined
  const counts = new Map<number, number>()
  let distinct = 0
  for (let i = 0; i < stems.length; i++) {
    const [stem, old] = [stems[i] ?? NUMBER, stems[i - window]]
    const count = (counts.get(stem) ?? 0) + 1
    counts.set(stem, count)
    if (count === 1) distinct++
    if (old !== undefined) {
      const left = (counts.get(old) ?? 0) - 1
      counts.set(old, left)
      if (left === 0) distinct--
    }
    if (i + 1 >= window && distinct <= (window * MIN_DISTINCT) / tolerance) return 'repeats the same few words'
  }
  return undefined
}

/** Detects a keyword list that is too long in a stream of tokens. */
function createListDetector(tolerance: number) {
  const stems = new Set<number>()
  let items = 0
  let itemWords = 0
  let words = 0
  let foreignStopWords = 0
  let isLong = false
  return {
    get isLong() {
      return isLong
    },
    separator() {
      if (itemWords > 0) items++
      itemWords = 0
      isLong ||= items >= MAX_LIST_ITEMS * tolerance && foreignStopWords <= items * MAX_FOREIGN_STOP_WORDS
    },
    /** A stop word of another language than English: may belong to a sentence. */
    foreignStopWord() {
      foreignStopWords++
      itemWords++
    },
    /** The end of a sentence, or an English stop word, which only occurs in sentences. */
    sentenceEnd() {
      if (words > 0) stems.clear()
      words = items = itemWords = foreignStopWords = 0
    },
    unspacedRun(letters: number) {
      words = 0
      if (letters > MAX_ITEM_LETTERS) items = 0
      itemWords++
    },
    word(stem: number) {
      if (stem === NUMBER) return
      if (++itemWords > MAX_ITEM_WORDS) items = 0
      words++
      stems.add(stem)
      if (foreignStopWords > words * MAX_FOREIGN_STOP_WORDS) return
      const isRepeating = words >= MAX_REPEATING_LIST_WORDS * tolerance && stems.size <= words * REPEATING_LIST_DISTINCT
      isLong ||= isRepeating || words >= MAX_LIST_WORDS * tolerance
    },
  }
}

/** Tags that an agent may have, plus some for each described skill. Real agents have two, hardly any has twenty. */
const BASE_TAGS = 30
const TAGS_PER_SKILL = 3
const MAX_TAGS = 120
/** Capabilities without a description, also of their operation; they are searched like tags. */
const MAX_BARE_CAPABILITIES = 64
/** Tags unrelated to the rest of the record; a description in another language has some. */
const MAX_UNRELATED_TAGS = 15
/** Duplicate tags, ignoring case and punctuation. */
const MAX_DUPLICATE_TAGS = 2
/** Tags that contain the same stem, and the share of all tags from which they count as variants of one. */
const MAX_VARIANTS = 7
const VARIANTS_SHARE = 0.6
/** A longer tag is a sentence; in words and in characters. */
const MAX_TAG_WORDS = 20
const MAX_TAG_LENGTH = 120

const TAG_STEM_LETTERS = 5

/** Finds too many, repeated or unrelated tags and capabilities. */
export function findTagStuffing(record: AgentRecord): { member: string; message: string } | undefined {
  const { tags, capabilities, operations, format } = record
  const described = new Set(
    operations.flatMap(({ name, description, inputs }) => (description || inputs.properties ? [name] : [])),
  )
  const isBare = ({ name, description, tags: own, input }: Capability): boolean =>
    !description && !own && !input && !described.has(name)
  const bare = capabilities.filter(isBare).length
  if (bare > MAX_BARE_CAPABILITIES)
    return { member: '/capabilities', message: `lists ${bare} capabilities without descriptions` }
  const limit = Math.min(MAX_TAGS, BASE_TAGS + TAGS_PER_SKILL * (capabilities.length - bare))
  const message = tags.length > limit ? `has ${tags.length} tags: keep the few that fit best` : findProblem(record)
  return message === undefined ? undefined : { member: format === 'a2a' ? '/skills' : '/tags', message }
}

function findProblem(record: AgentRecord): string | undefined {
  const { tags } = record
  if (tags.some((tag) => tag.length > MAX_TAG_LENGTH)) return 'contains a tag as long as a sentence'
  const words = tags.map((tag) => wordsOf(plainText(tag)))
  if (words.some(({ length }) => length > MAX_TAG_WORDS)) return 'contains a tag as long as a sentence'
  if (tags.length <= MAX_DUPLICATE_TAGS) return undefined
  const distinct = new Set(words.map((tag) => tag.join(''))).size
  if (tags.length - distinct > MAX_DUPLICATE_TAGS) return 'repeats the same tags'
  const stems = words.map((tag) => new Set(tag.map(tagStem)))
  if (hasVariants(stems)) return 'contains many variants of one tag'
  if (tags.length <= MAX_UNRELATED_TAGS) return undefined
  const elsewhere = stemsElsewhere(record)
  const unrelated = stems.filter((tag) => ![...tag].some((stem) => elsewhere.has(stem))).length
  return unrelated > MAX_UNRELATED_TAGS
    ? `contains ${unrelated} tags that the rest of the document does not mention`
    : undefined
}

const wordsOf = (plain: string): readonly string[] => plain.match(/[\p{L}\p{N}]+/gu) ?? []
const tagStem = (word: string): string => word.slice(0, TAG_STEM_LETTERS)

function hasVariants(stems: readonly ReadonlySet<string>[]): boolean {
  if (stems.length <= MAX_VARIANTS) return false
  const counts = new Map<string, number>()
  for (const tag of stems) for (const stem of tag) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const most = Math.max(0, ...counts.values())
  return most > MAX_VARIANTS && most >= stems.length * VARIANTS_SHARE
}

/** Stems of all words outside of tags. */
function stemsElsewhere({ document }: AgentRecord): ReadonlySet<string> {
  const stems = new Set<string>()
  visitTexts(document, (text, path) => {
    if (path.at(-2) !== 'tags') for (const word of wordsOf(plainText(text))) stems.add(tagStem(word))
  })
  return stems
}
