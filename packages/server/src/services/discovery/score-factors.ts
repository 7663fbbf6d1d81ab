import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'

/** What an agent's score is multiplied by, for what neither words nor meaning tell. */
export interface ScoreFactors {
  /** Of all together. */
  readonly factor: number
  /** How long ago it was heard from. */
  readonly freshness: number
  /** Its status, the operator's marks, and what it does to be found more often than it should. */
  readonly policy: number
  /** How calls of it ended and what callers think of it; about 1. */
  readonly reputation: number
}

/** Status words of agents that still work, but should not come before those in service (C-21). */
const DEMOTED = new Set(['deprecated', 'testing'])
/** What is left of their score: enough to be found, not enough to win among equals. */
const DEMOTION = 0.8
/** What is left of the score of one that the operator holds unsafe. */
const UNSAFE = 0.5

const DAY_MS = 86_400_000
/** An agent heard from within so many days is fresh; after as many again it has lost all that age can cost. */
const FRESH_DAYS = 90
const OLDEST = 0.95

export function scoreFactorsOf({ now, abuse, reputationOf }: Context, agent: Agent): ScoreFactors {
  const { stored, status } = agent
  const freshness = freshnessOf(now() - stored.receivedAt)
  const safety = stored.marks.unsafe === true ? UNSAFE : 1
  const policy = (DEMOTED.has(status) ? DEMOTION : 1) * safety * abuse.factorOf(agent)
  const reputation = reputationOf(agent)
  return { factor: freshness * policy * reputation, freshness, policy, reputation }
}

function freshnessOf(ageMs: number): number {
  const late = ageMs / (FRESH_DAYS * DAY_MS) - 1
  return 1 - (1 - OLDEST) * Math.max(0, Math.min(1, late))
}
