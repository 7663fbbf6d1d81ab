import { LANGUAGES_OF_WORD } from '../words/stop-words.js'
import { isListMark, isSentenceEnd, isUnspaced } from './read-tokens.js'

/** Shorter texts repeat a word for good reasons. */
const MIN_WORDS = 12
/** A word that makes up this share of those that say something, and is said so often, is there for the ranking. */
const WORD_SHARE = 0.3
const MIN_REPEATS = 10
/** The same, for a word that nearly fills the text. */
const WORD_FILL = 0.5
const MIN_FILL_REPEATS = 7
/** Of so many telling words in a row at least this share must differ; tables and code come near, prose never. */
const WINDOW = 40
const MIN_DISTINCT = 0.2
/** Words in a row none of which is one that sentences need: no sentence, and no list that helps anybody. */
const MAX_LIST_WORDS = 50
/** The same, for a list that says the same in other words: "translate, translator, translation online". */
const MAX_REPEATING_LIST_WORDS = 16
const REPEATING_LIST_DISTINCT = 0.6
/** Share of words that sentences of other languages need; each is a keyword in some language, such as "ai". */
const MAX_GLUE = 0.1
/** Items in a row, each of few words. */
const MAX_LIST_ITEMS = 40
const MAX_ITEM_WORDS = 3
const MAX_ITEM_LETTERS = 8

/** A schema lists the values that it takes, and may repeat a word in each; so many times more is borne with. */
const PATIENCE = { prose: 1, schema: 4 }

/** Forms of a word have this many letters in common: enough to count it, too coarse to search by. */
const STEM_LETTERS = 6

/** How a text is stuffed with keywords, in the words of a warning; undefined if it reads like text. */
export function keywordStuffing(tokens: readonly string[], place: 'prose' | 'schema' = 'prose'): string | undefined {
  const patience = PATIENCE[place]
  if (tokens.length < MIN_WORDS * patience) return undefined
  const stems: number[] = []
  const list = createListWatch(patience)
  for (const token of tokens) {
    if (isListMark(token)) list.mark()
    else if (isSentenceEnd(token)) list.end()
    else if (isUnspaced(token)) {
      for (let i = 0; i < token.length; i += UNSPACED_STEM) stems.push(stemOf(token, i, i + UNSPACED_STEM))
      list.run(token.length)
    } else {
      const languages = LANGUAGES_OF_WORD.get(token)
      if (languages) {
        if (languages.includes('en')) list.end()
        else list.glue()
        continue
      }
      const stem = isNumber(token) ? NUMBER : stemOf(token, 0, STEM_LETTERS)
      if (token.length > 2 || stem === NUMBER) stems.push(stem)
      list.word(stem)
    }
  }
  const repetition = repeatedWord(stems, patience) ?? repeatedPassage(stems, patience)
  return repetition ?? (list.isLong ? 'is a long list of keywords without a sentence' : undefined)
}

/** Letters that count as a word where there are no spaces. */
const UNSPACED_STEM = 2
/** All numbers are one: a list of them says nothing, and earns nothing. */
const NUMBER = 0

/** The first letters as a number, which is quicker to count than text is. */
function stemOf(word: string, from: number, to: number): number {
  let stem = 7
  for (let i = from; i < to && i < word.length; i++) stem = (Math.imul(stem, 31) + word.charCodeAt(i)) | 0
  return stem
}

const isNumber = (token: string): boolean => {
  const code = token.charCodeAt(0)
  return code >= 0x30 && code <= 0x39
}

function repeatedWord(stems: readonly number[], patience: number): string | undefined {
  if (stems.length < MIN_FILL_REPEATS * patience) return undefined
  const counts = new Map<number, number>()
  let most = 0
  for (const stem of stems) {
    if (stem === NUMBER) continue
    const count = (counts.get(stem) ?? 0) + 1
    counts.set(stem, count)
    if (count > most) most = count
  }
  const isStuffed =
    (most >= MIN_REPEATS * patience && most >= stems.length * WORD_SHARE) ||
    (most >= MIN_FILL_REPEATS * patience && most >= stems.length * WORD_FILL)
  return isStuffed ? 'repeats one word again and again' : undefined
}

function repeatedPassage(stems: readonly number[], patience: number): string | undefined {
  const window = WINDOW * patience
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
    if (i + 1 >= window && distinct <= (window * MIN_DISTINCT) / patience) return 'repeats the same few words'
  }
  return undefined
}

/** Watches words go by for a list that is too long. */
function createListWatch(patience: number) {
  const stems = new Set<number>()
  let items = 0
  let itemWords = 0
  let words = 0
  let glue = 0
  let isLong = false
  return {
    get isLong() {
      return isLong
    },
    mark() {
      if (itemWords > 0) items++
      itemWords = 0
      isLong ||= items >= MAX_LIST_ITEMS * patience && glue <= items * MAX_GLUE
    },
    /** A word that may belong to a sentence. */
    glue() {
      glue++
      itemWords++
    },
    /** The end of a sentence, or a word that there is none without. */
    end() {
      if (words > 0) stems.clear()
      words = items = itemWords = glue = 0
    },
    run(letters: number) {
      words = 0
      if (letters > MAX_ITEM_LETTERS) items = 0
      itemWords++
    },
    word(stem: number) {
      if (stem === NUMBER) return
      if (++itemWords > MAX_ITEM_WORDS) items = 0
      words++
      stems.add(stem)
      if (glue > words * MAX_GLUE) return
      const isRepeating = words >= MAX_REPEATING_LIST_WORDS * patience && stems.size <= words * REPEATING_LIST_DISTINCT
      isLong ||= isRepeating || words >= MAX_LIST_WORDS * patience
    },
  }
}
