import type { JsonObject } from '@switchboard/protocol'
import type { PartMatch, ScoreParts, TextEvidence, WordMatch } from '@switchboard/search'
import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { confirmedAt } from '../registry/copies.js'
import type { Found, FoundPage } from './find.js'
import type { ScoreFactors } from './score-factors.js'
import { nearestPart, snippetsOf, textOf } from './snippets.js'

/** Everything that a score can consist of. The names of the draft come first (PROF §6.2), then our own. */
export const SCORE_COMPONENTS = [
  'tag',
  'context',
  'example',
  'freshness',
  'policy',
  'words',
  'operation',
  'direction',
  'language',
  'reputation',
  'availability',
  'choice',
  'duplicate',
  'rank',
] as const

export type ComponentName = (typeof SCORE_COMPONENTS)[number]

/** One reason for a score: the values of all components add up to it. */
export interface ScoreComponent {
  readonly component: ComponentName
  /** Less than 0 if it lowers the score; four digits. */
  readonly value: number
  /** Which words, which sentence, which operation … */
  readonly text: string
}

const DAY_MS = 86_400_000

/** The explanation of a match, as responses show it. */
export function explainMatch(
  context: Context,
  hit: Found,
  evidence: TextEvidence & Pick<FoundPage, 'corrected'>,
  factors: ScoreFactors,
  tags: readonly string[] = [],
): JsonObject & { explanation: JsonObject[] } {
  return {
    explanation: explainScore(context, hit, evidence, factors, tags).map((component) => ({ ...component })),
    matched_words: evidence.words.map(({ word }) => word),
    ...correctedWords(evidence),
    snippets: snippetsOf(hit.agent.shown, evidence),
  }
}

/** The corrections to which the agent owes a matched word. */
function correctedWords({ words, corrected }: TextEvidence & Pick<FoundPage, 'corrected'>): JsonObject {
  const matched = new Set(words.map(({ word }) => word.toLowerCase()))
  const own = corrected.filter(({ to }) => to.split(' ').some((word) => matched.has(word)))
  return own.length === 0 ? {} : { corrected_words: own.map(({ from, to }) => ({ from, to })) }
}

/**
 * Explains a score. Words and embeddings come first, with what they would score on their own; each factor then counts with
 * what it changes. Components of 0 are left out. All texts are public.
 *
 * @param tags the preferred tags that the agent has
 */
function explainScore(
  context: Context,
  { agent, score = 0, parts, duplicateLoss = 0, raised = 0 }: Found,
  evidence: TextEvidence,
  factors: ScoreFactors,
  tags: readonly string[],
): ScoreComponent[] {
  const components: ScoreComponent[] = []
  let sum = 0
  const add = (component: ComponentName, value: number, text: string): void => {
    sum += value
    components.push({ component, value, text })
  }
  const multiply = (component: ComponentName, factor: number, text: string): void =>
    add(component, sum * (factor - 1), text)

  const nearest = nearestPart(evidence.parts)
  add('words', parts?.words ?? 0, wordsText(evidence.words))
  add(componentOf(nearest), parts?.meaning ?? 0, nearest ? textOfPart(agent, nearest, evidence) : '')
  add('direction', parts?.direction ?? 0, directionText(parts?.direction ?? 0))
  add('language', parts?.language ?? 0, languageText(agent, parts?.languageReason))
  multiply('freshness', factors.freshness, `not confirmed for ${daysSince(context, agent)} days`)
  multiply('policy', factors.policy, policyText(context, agent))
  multiply('reputation', factors.reputation, 'outcomes of calls, and ratings')
  multiply('availability', factors.availability, 'could not be reached')
  multiply('choice', factors.choice, choiceText(factors.choice))
  add('duplicate', -duplicateLoss, 'near-duplicate of better results')
  const compared = score - raised - sum
  add('rank', compared, compared < 0 ? 'others fit as well, or little matches' : 'fits better than the others')
  add('tag', raised, tags.join(', '))
  return rounded(components, score)
}

/** Four digits for each; what rounding loses goes to the largest one, so that the sum stays exact. */
function rounded(components: readonly ScoreComponent[], score: number): ScoreComponent[] {
  const units = components.map(({ value }) => Math.round(value * UNITS))
  const rest = Math.round(score * UNITS) - units.reduce((sum, each) => sum + each, 0)
  const largest = units.reduce((best, each, at) => (Math.abs(each) > Math.abs(units[best] ?? 0) ? at : best), 0)
  return components
    .map((each, at) => ({ ...each, value: ((units[at] ?? 0) + (at === largest ? rest : 0)) / UNITS }))
    .filter(({ value }) => value !== 0)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
}

/** Responses show scores and their components with four digits. */
const UNITS = 1e4

export const roundScore = (score: number): number => Math.round(score * UNITS) / UNITS

/** The embedding of an example or of an operation is evidence of its own. */
function componentOf(nearest: PartMatch | undefined): ComponentName {
  if (nearest?.part.kind === 'example') return 'example'
  return nearest === undefined || nearest.part.kind === 'agent' ? 'context' : 'operation'
}

function textOfPart({ shown }: Agent, { part }: PartMatch, evidence: TextEvidence): string {
  // The sentence that has words of the query says more than the first one.
  const [snippet] = part.kind === 'agent' ? snippetsOf(shown, evidence) : []
  return snippet !== undefined && shown.description.includes(snippet) ? snippet : textOf(shown, part)
}

/** A word of another language is shown with its meaning, which the agent contains. */
const wordsText = (words: readonly WordMatch[]): string =>
  words.map(({ word, english }) => (english === undefined ? word : `${word} (${english})`)).join(', ')

const directionText = (value: number): string =>
  value > 0 ? 'converts in the direction of the request' : 'converts in the opposite direction'

function languageText({ shown: { languages = [] } }: Agent, reason: ScoreParts['languageReason']): string {
  if (reason === 'described') return 'described in another language'
  return `${reason === 'named' ? 'speaks' : 'declares only'} ${languages.join(', ')}`
}

const daysSince = ({ now }: Context, agent: Agent): number => Math.floor((now() - confirmedAt(agent)) / DAY_MS)

function policyText({ abuse, originFactorOf }: Context, agent: Agent): string {
  const reasons = [
    ...(agent.status === 'active' ? [] : [`status ${agent.status}`]),
    ...(agent.stored.marks.unsafe === true ? ['marked unsafe by the operator'] : []),
    ...new Set(abuse.findingsOf(agent).map(({ code }) => code)),
    ...(originFactorOf(agent) === 1 ? [] : [`from ${agent.stored.marks.origin?.service ?? 'another directory'}`]),
  ]
  return reasons.join(', ')
}

const choiceText = (factor: number): string =>
  factor > 1 ? 'often chosen after searches with these words' : 'often passed over in searches with these words'
