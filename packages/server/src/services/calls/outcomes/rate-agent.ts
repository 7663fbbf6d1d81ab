import { DirectoryError } from '@switchboard/protocol'
import type { Caller } from '../../../policy/caller.js'
import { assertMayInvoke } from '../../../policy/invocation.js'
import { auditOf, type Context } from '../../context.js'
import { readAgent } from '../../registry/read.js'
import type { Outcomes } from './outcomes.js'

/** A caller's rating of an agent. */
export interface Feedback {
  /** 1 (bad) to 5 (good). */
  readonly rating: number
  readonly comment?: string
}

/** Ratings from which the ranking learns that the agent was the right one for a search, or not. */
const GOOD = 4
const BAD = 2

/** Stores a rating; each subject has one rating for each agent, and a new one replaces it (AIDIP §10). */
export async function rateAgent(
  context: Context,
  outcomes: Outcomes,
  id: string,
  feedback: Feedback,
  caller: Caller,
  searchId: string | undefined,
): Promise<void> {
  const { agent } = readAgent(context, id, caller)
  const { subject } = caller
  if (subject === undefined) throw new DirectoryError('forbidden', 'rating an agent needs credentials')
  // Only those who may call the agent can have experience with it.
  assertMayInvoke(agent, caller, context.grantsOf)
  if (subject === agent.owner) throw new DirectoryError('forbidden', 'publishers may not rate their own agents')
  const at = context.now()
  await outcomes.rate({ agent: id, owner: agent.owner, subject, at, ...feedback })
  const { rating } = feedback
  if (rating >= GOOD || rating <= BAD) context.choices?.chose(searchId, agent, caller, rating >= GOOD)
  const audit = auditOf(caller, 'feedback', at, { agent: id, detail: `rating ${rating}`, after: { rating } })
  await context.store.appendAudit([audit])
}
