import type { AgentRecord } from '@switchboard/protocol'
import { visitTexts } from './document-texts.js'
import { plainText } from './plain-text.js'

/** Tags that an agent may have; with many skills it may have some for each. Real agents have two, hardly any twenty. */
const MAX_TAGS = 30
const TAGS_A_SKILL = 3
const MOST_TAGS = 120
/** Names of capabilities without a word about them; they are searched like tags. */
const MAX_BARE_CAPABILITIES = 64
/** Tags of which nothing else in the record speaks; a description in another language has some. */
const MAX_FOREIGN_TAGS = 15
/** Tags that are the same but for case and punctuation. */
const MAX_SAME_TAGS = 2
/** Tags that are forms of one word, or that word with another, and the share of all that makes them a series. */
const MAX_SERIES = 7
const SERIES_SHARE = 0.6
/** A longer tag is a sentence. */
const MAX_TAG_WORDS = 20
const MAX_TAG_LENGTH = 120

const STEM_LETTERS = 5

/** How the tags are stuffed, and where. */
export function tagStuffing(record: AgentRecord): { member: string; message: string } | undefined {
  const { tags, capabilities, format } = record
  const bare = capabilities.filter(({ description, tags: own, input }) => !description && !own && !input).length
  if (bare > MAX_BARE_CAPABILITIES)
    return { member: '/capabilities', message: `names ${bare} without a word about them` }
  const most = Math.min(MOST_TAGS, MAX_TAGS + TAGS_A_SKILL * (capabilities.length - bare))
  const message = tags.length > most ? `has ${tags.length} tags: the few that fit best are enough` : problemOf(record)
  return message === undefined ? undefined : { member: format === 'a2a' ? '/skills' : '/tags', message }
}

function problemOf(record: AgentRecord): string | undefined {
  const { tags } = record
  if (tags.some((tag) => tag.length > MAX_TAG_LENGTH)) return 'has a tag that is a text'
  const words = tags.map((tag) => wordsOf(plainText(tag)))
  if (words.some(({ length }) => length > MAX_TAG_WORDS)) return 'has a tag that is a text'
  if (tags.length <= MAX_SAME_TAGS) return undefined
  const different = new Set(words.map((tag) => tag.join(''))).size
  if (tags.length - different > MAX_SAME_TAGS) return 'has the same tags again and again'
  const stems = words.map((tag) => new Set(tag.map(stemOf)))
  if (isSeries(stems)) return 'has many tags for one word'
  if (tags.length <= MAX_FOREIGN_TAGS) return undefined
  const elsewhere = stemsElsewhere(record)
  const foreign = stems.filter((tag) => ![...tag].some((stem) => elsewhere.has(stem))).length
  return foreign > MAX_FOREIGN_TAGS ? `has ${foreign} tags of which nothing else in the document speaks` : undefined
}

const wordsOf = (plain: string): readonly string[] => plain.match(/[\p{L}\p{N}]+/gu) ?? []
const stemOf = (word: string): string => word.slice(0, STEM_LETTERS)

function isSeries(stems: readonly ReadonlySet<string>[]): boolean {
  if (stems.length <= MAX_SERIES) return false
  const counts = new Map<string, number>()
  for (const tag of stems) for (const stem of tag) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const most = Math.max(0, ...counts.values())
  return most > MAX_SERIES && most >= stems.length * SERIES_SHARE
}

/** Beginnings of all words outside of tags. */
function stemsElsewhere({ document }: AgentRecord): ReadonlySet<string> {
  const stems = new Set<string>()
  visitTexts(document, (text, path) => {
    if (path.at(-2) !== 'tags') for (const word of wordsOf(plainText(text))) stems.add(stemOf(word))
  })
  return stems
}
