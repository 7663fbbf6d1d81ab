import type { AgentRecord } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import { viewOf } from '../../policy/visibility.js'
import type { Context } from '../context.js'
import type { Agent } from './catalog.js'
import { gone } from './refresh.js'
import { unknownAgent } from './register.js'

/** An agent and as much of its record as the caller may see. */
export interface Readable {
  readonly agent: Agent
  readonly record: AgentRecord
}

/** One agent by id; what the caller may not see is not there (C-70). */
export function readAgent(context: Context, id: string, caller: Caller): Readable {
  const agent = context.catalog.get(id)
  const record = agent && viewOf(agent, caller, context.grantsOf)
  if (!agent || !record) throw unknownAgent(id)
  return { agent, record }
}

/** One agent by the number of its registration. */
export async function readRegistration(context: Context, number: number, caller: Caller): Promise<Readable> {
  const agent = context.catalog.byNumber(number)
  const record = agent && viewOf(agent, caller, context.grantsOf)
  if (!agent || !record) throw await gone(context, number)
  return { agent, record }
}
