import { type DiscoveryRequest, given, type JsonObject, profileTags } from '@switchboard/protocol'
import type { TextEvidence } from '@switchboard/search'
import { matchTags } from '../../policy/taxonomy.js'
import type { Context } from '../../services/context.js'
import { explainMatch, roundScore } from '../../services/discovery/explain-score.js'
import type { Found, FoundPage } from '../../services/discovery/find.js'
import type { ScoreFactors } from '../../services/discovery/score-factors.js'

/** Number of examples in the response: enough to judge a match, but short. */
const SHOWN_EXAMPLES = 3
/** Minimum cosine similarity of a matched example; unrelated texts reach values just below it. */
const EXAMPLE_FLOOR = 0.3

/** Why an agent is a candidate (PROF §6.2, §8). Matches of the text come only from public parts of the document. */
export function toEvidence(
  context: Context,
  hit: Found,
  wanted: DiscoveryRequest,
  evidence: TextEvidence & Pick<FoundPage, 'corrected'>,
  factors: ScoreFactors,
): JsonObject {
  const { agent, record } = hit
  const preferred = wanted.preferred_tags ?? []
  const { direct, expanded } = matchTags(
    [...(wanted.required_tags ?? []), ...preferred],
    profileTags(record),
    context.taxonomy,
  )
  const examples = evidence.parts.flatMap(({ part, similarity }) => {
    const example = part.kind === 'example' ? agent.shown.examples[part.position] : undefined
    return example && similarity >= EXAMPLE_FLOOR ? [{ example, similarity }] : []
  })
  const liked = matchTags(preferred, profileTags(record), context.taxonomy)
  const likedTags = [...liked.direct, ...liked.expanded.map(({ tag }) => tag)]
  const match = explainMatch(context, hit, evidence, factors, likedTags)
  return {
    score_components: Object.fromEntries(match.explanation.map(({ component, value }) => [component, value])),
    ...match,
    matched_tags: direct,
    ...(expanded.length > 0 && { expanded_tags: expanded.map(({ tag, via }) => ({ tag, via })) }),
    matched_examples: examples.slice(0, SHOWN_EXAMPLES).map(({ example, similarity }) => ({
      ...given('id', example.id),
      score: roundScore(similarity),
      text: example.text,
    })),
  }
}
