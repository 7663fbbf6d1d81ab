import type { AgentRecord } from '@switchboard/protocol'
import { visitTexts } from './document-texts.js'
import { plainText } from './plain-text.js'

/** Tags that an agent may have, plus some for each described skill. Real agents have two, hardly any has twenty. */
const BASE_TAGS = 30
const TAGS_PER_SKILL = 3
const MAX_TAGS = 120
/** Capabilities without a description; they are searched like tags. */
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

const STEM_LETTERS = 5

/** Finds too many, repeated or unrelated tags and capabilities. */
export function findTagStuffing(record: AgentRecord): { member: string; message: string } | undefined {
  const { tags, capabilities, format } = record
  const bare = capabilities.filter(({ description, tags: own, input }) => !description && !own && !input).length
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
  const stems = words.map((tag) => new Set(tag.map(stemOf)))
  if (hasVariants(stems)) return 'contains many variants of one tag'
  if (tags.length <= MAX_UNRELATED_TAGS) return undefined
  const elsewhere = stemsElsewhere(record)
  const unrelated = stems.filter((tag) => ![...tag].some((stem) => elsewhere.has(stem))).length
  return unrelated > MAX_UNRELATED_TAGS
    ? `contains ${unrelated} tags that the rest of the document does not mention`
    : undefined
}

const wordsOf = (plain: string): readonly string[] => plain.match(/[\p{L}\p{N}]+/gu) ?? []
const stemOf = (word: string): string => word.slice(0, STEM_LETTERS)

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
    if (path.at(-2) !== 'tags') for (const word of wordsOf(plainText(text))) stems.add(stemOf(word))
  })
  return stems
}
