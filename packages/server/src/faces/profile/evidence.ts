import { type DiscoveryRequest, given, type JsonObject, profileTags } from '@switchboard/protocol'
import type { TextEvidence } from '@switchboard/search'
import { reputationShare } from '../../policy/reputation.js'
import { matchTags, tagShare } from '../../policy/taxonomy.js'
import type { Context } from '../../services/context.js'
import type { Found, FoundPage } from '../../services/discovery/find.js'
import type { ScoreFactors } from '../../services/discovery/score-factors.js'

/** Number of examples and snippets in the response: enough to judge a match, but short. */
const SHOWN_EXAMPLES = 3
const SHOWN_SNIPPETS = 2
/** Minimum cosine similarity of a matched example; unrelated texts reach values just below it. */
const EXAMPLE_FLOOR = 0.3
const MAX_SNIPPET = 240

/** Why an agent is a candidate (PROF §6.2, §8). Matches of the text come only from public parts of the document. */
export function toEvidence(
  context: Context,
  { agent, record, relevance = 0 }: Found,
  wanted: DiscoveryRequest,
  { words, parts, corrected }: TextEvidence & Pick<FoundPage, 'corrected'>,
  { freshness, policy, reputation, availability, choice }: ScoreFactors,
): JsonObject {
  const requestedTags = [...(wanted.required_tags ?? []), ...(wanted.preferred_tags ?? [])]
  const ownTags = profileTags(record)
  const { direct, expanded } = matchTags(requestedTags, ownTags, context.taxonomy)
  const tag = tagShare(requestedTags, ownTags, context.taxonomy)
  const examples = parts.flatMap(({ part, similarity }) => {
    const example = part.kind === 'example' ? agent.shown.examples[part.position] : undefined
    return example && similarity >= EXAMPLE_FLOOR ? [{ example, similarity }] : []
  })
  return {
    score_components: {
      ...given('tag', tag === undefined ? undefined : rounded(tag)),
      context: rounded(relevance),
      example: rounded(examples[0]?.similarity ?? 0),
      ...((wanted.protocols ?? []).length > 0 && { protocol: 1 }),
      freshness: rounded(freshness),
      policy: rounded(policy),
      reputation: rounded(reputationShare(reputation)),
      availability: rounded(availability),
      ...(choice !== 1 && { choice: rounded(choice) }),
    },
    matched_tags: direct,
    ...(expanded.length > 0 && { expanded_tags: expanded.map(({ tag, via }) => ({ tag, via })) }),
    matched_examples: examples.slice(0, SHOWN_EXAMPLES).map(({ example, similarity }) => ({
      ...given('id', example.id),
      score: rounded(similarity),
      text: example.text,
    })),
    matched_words: words.map(({ word }) => word),
    ...correctedWords(words, corrected),
    snippets: snippetsOf(agent.shown.description, words),
  }
}

/** The corrections to which the agent owes a matched word. */
function correctedWords(words: TextEvidence['words'], corrected: FoundPage['corrected']): JsonObject {
  const matched = new Set(words.map(({ word }) => word.toLowerCase()))
  const own = corrected.filter(({ to }) => to.split(' ').some((word) => matched.has(word)))
  return own.length === 0 ? {} : { corrected_words: own.map(({ from, to }) => ({ from, to })) }
}

/** Sentences of the description that contain words of the query, those with most of them first. */
function snippetsOf(description: string, words: TextEvidence['words']): string[] {
  const wanted = words.filter(({ fields }) => fields.includes('description')).map(({ word }) => word.toLowerCase())
  const sentences = description.match(/[^.!?。！？\n]+[.!?。！？]*/g) ?? []
  return sentences
    .map((sentence) => {
      const text = sentence.trim().slice(0, MAX_SNIPPET)
      const lower = text.toLowerCase()
      return { text, hits: wanted.filter((word) => lower.includes(word.slice(0, STEM_LETTERS))).length }
    })
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, SHOWN_SNIPPETS)
    .map(({ text }) => text)
}

/** Length of the prefix to compare: the index matches stems, so an inflected word differs only at its end. */
const STEM_LETTERS = 5

export const rounded = (score: number): number => Math.round(score * 1e4) / 1e4
