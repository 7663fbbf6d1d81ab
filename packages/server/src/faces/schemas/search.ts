import type { JsonObject } from '@switchboard/protocol'
import { SCORE_COMPONENTS } from '../../services/discovery/explain-score.js'
import { component } from './component.js'
import { list, object, oneOf, text, texts } from './parts.js'

export const scoreSchema: JsonObject = { type: 'number' }

const correction = object({ from: text, to: text })

/** Members of a response to a search by text: corrected words, or similar ones if none is known; both may be missing. */
export const spellingMembers: JsonObject = { corrected: list(correction), suggestions: texts }

/** Why an agent was found; all members may be missing. */
export const matchMembers: JsonObject = {
  explanation: list(
    component('ScoreComponent', object({ component: oneOf(...SCORE_COMPONENTS), value: scoreSchema, text })),
  ),
  matched_words: texts,
  corrected_words: list(correction),
  snippets: texts,
}
