import { DirectoryError } from '@switchboard/protocol'
import type { AuditEntry, Marks } from '../../store/store.js'
import type { Context } from '../context.js'
import type { Agent } from './catalog.js'
import { timeOfChange } from './entity-tags.js'
import type { Reservation } from './quotas.js'
import { unknownAgent } from './read.js'

/** What the directory itself keeps about an agent. */
export interface Rewrite {
  /** Default: the owner stays. */
  readonly owner?: string
  /** Ends the lease; default: it stays. */
  readonly lease?: 'none'
  readonly marks: Marks
  readonly audit: AuditEntry
}

/**
 * Changes what the directory keeps about an agent; its document and its lease stay. The change is computed again if
 * another process was faster.
 *
 * @param room the room in the quota of a new owner
 */
export function rewriteAgent(
  context: Context,
  id: string,
  change: (agent: Agent, at: number) => Rewrite,
  room?: Reservation,
): Promise<Agent> {
  return context.mutex.run(id, async () => {
    for (;;) {
      const agent = context.catalog.get(id)
      if (!agent) throw unknownAgent(id)
      const { owner, format, document, revision, modifiedAt } = agent.stored
      const at = timeOfChange(context.now(), modifiedAt)
      const result = await context.store.write({
        kind: 'put',
        id,
        expect: revision,
        owner,
        format,
        document,
        lease: 'keep',
        at,
        received: false,
        memory: agent.memory,
        ...room?.counted,
        ...change(agent, at),
      })
      room?.assertWithin(result)
      if (result.outcome === 'done') {
        if (!result.agent) throw new DirectoryError('internal_error', 'the store returned no agent')
        return context.catalog.apply(result.agent, { record: agent.published })
      }
      await context.catalog.reload(id)
    }
  })
}
