/** How often an agent was listed after searches with a term, and chosen; one caller counts once a day. */
export interface Choices {
  /** Times that it was listed, at the place of the chosen agent or before it. */
  readonly shown: number
  readonly chosen: number
}

/** Maximum effect on a score: enough to decide between similar agents, not to hide one. */
export const CHOICE_RANGE = { least: 0.97, most: 1.05 }
/** Weight of the neutral prior: with this many callers and days, the evidence counts half. */
const PRIOR = 10
/** Callers and days below which nothing is concluded, so that a few callers neither decide nor show what they searched for. */
const LEAST_SHOWN = 5

/**
 * Factor of the score, from 0.97 to 1.05; 1 without evidence. It is neutral if an agent is chosen in half of the searches in
 * which it was seen.
 *
 * @param terms what is known about each term of the query; undefined: nothing
 */
export function choiceFactor(terms: readonly (Choices | undefined)[]): number {
  const effects = terms.map((term) => {
    if (!term || term.shown < LEAST_SHOWN) return 0
    return ((2 * term.chosen) / term.shown - 1) * (term.shown / (term.shown + PRIOR))
  })
  const effect = effects.reduce((sum, each) => sum + each, 0) / Math.max(1, effects.length)
  return 1 + effect * (effect > 0 ? CHOICE_RANGE.most - 1 : 1 - CHOICE_RANGE.least)
}
