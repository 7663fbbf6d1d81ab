import { DirectoryError } from '@switchboard/protocol'
import { mayOperate, maySee } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import { auditOf, type Context } from '../context.js'
import { stateOf } from '../operations/audit-state.js'
import { assertNotCopy } from './copies.js'
import { matchesRevision, timeOfChange } from './entity-tags.js'
import { unknownAgent } from './read.js'

/** Removes an agent on behalf of its owner; the name is free immediately. */
export async function removeAgent(context: Context, id: string, caller: Caller, ifMatch?: string): Promise<void> {
  for (;;) {
    const agent = context.catalog.get(id)
    if (!agent || !maySee(agent, caller, context.grantsOf)) throw unknownAgent(id)
    if (!mayOperate(caller, { id, owner: agent.owner })) {
      const error = new DirectoryError('forbidden', `the agent "${id}" belongs to another publisher`)
      context.trail.refused(error, caller, { action: 'remove', agent: id })
      throw error
    }
    assertNotCopy(agent)
    if (ifMatch !== undefined && !matchesRevision(ifMatch, agent)) {
      throw new DirectoryError(
        'precondition_failed',
        `the agent "${id}" has changed since you read it: read it again and repeat the change`,
      )
    }
    const { revision, modifiedAt } = agent.stored
    const at = timeOfChange(context.now(), modifiedAt)
    const audit = auditOf(caller, 'remove', at, { agent: id, before: stateOf(agent) })
    const result = await context.store.write({ kind: 'remove', id, expect: revision, reason: 'removed', at, audit })
    if (result.outcome === 'done') return context.catalog.drop(id, revision)
    await context.catalog.reload(id)
  }
}
