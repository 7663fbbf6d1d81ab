import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { confirmedAt } from '../registry/copies.js'

/** Factors of an agent's score besides its relevance to the query. */
export interface ScoreFactors {
  /** The product of all. */
  readonly factor: number
  /** From the time of the last registration or refresh. */
  readonly freshness: number
  /** From its status, the operator's marks, abuse findings, and the trust in the peer that supplies it. */
  readonly policy: number
  /** From outcomes of calls and from ratings. */
  readonly reputation: number
  /** From checks whether it can be reached. */
  readonly availability: number
  /** From what callers choose after searches with the same words. */
  readonly choice: number
}

/** Statuses of agents that still work but should rank below active ones (C-21). */
const DEMOTED = new Set(['deprecated', 'testing'])
/** Factor for those: they are still found, but lose against an equal match. */
const DEMOTION = 0.8
/** Factor for agents that the operator has marked unsafe. */
const UNSAFE = 0.5

const DAY_MS = 86_400_000
/** Days without a penalty for age; it reaches its maximum after twice as long. */
const FRESH_DAYS = 90
/** Factor at the maximum age. */
const OLDEST = 0.95

/** @param choice from `SearchChoices`, the only factor that depends on the query */
export function scoreFactorsOf(context: Context, agent: Agent, choice: number): ScoreFactors {
  const { now, abuse, reputationOf, availabilityOf, originFactorOf } = context
  const { stored, status } = agent
  const freshness = freshnessOf(now() - confirmedAt(agent))
  const safety = stored.marks.unsafe === true ? UNSAFE : 1
  const policy = (DEMOTED.has(status) ? DEMOTION : 1) * safety * abuse.factorOf(agent) * originFactorOf(agent)
  const reputation = reputationOf(agent)
  const availability = availabilityOf(agent)
  const factor = freshness * policy * reputation * availability * choice
  return { factor, freshness, policy, reputation, availability, choice }
}

function freshnessOf(ageMs: number): number {
  const late = ageMs / (FRESH_DAYS * DAY_MS) - 1
  return 1 - (1 - OLDEST) * Math.max(0, Math.min(1, late))
}
