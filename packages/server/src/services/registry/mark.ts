import { DirectoryError } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { Marks } from '../../store/store.js'
import { auditOf, type Context } from '../context.js'
import { stateOfMarks } from '../operations/audit-state.js'
import type { Agent } from './catalog.js'
import { timeOfChange } from './entity-tags.js'
import { unknownAgent } from './read.js'

/** Changes of an operator's marks; null removes a mark. */
export type MarkChanges = { [K in keyof Marks]?: Marks[K] | null }

/** Sets the operator's marks: verification, certification, quality, unsafe, status (C-23, C-95). */
export function markAgent(context: Context, id: string, changes: MarkChanges, caller: Caller): Promise<Agent> {
  return context.mutex.run(id, () => mark(context, id, changes, caller))
}

async function mark(context: Context, id: string, changes: MarkChanges, caller: Caller): Promise<Agent> {
  for (;;) {
    const agent = context.catalog.get(id)
    if (!agent) throw unknownAgent(id)
    const { owner, format, document, revision, modifiedAt, marks: before } = agent.stored
    const at = timeOfChange(context.now(), modifiedAt)
    const marks = withChanges(before, changes)
    const names = Object.keys(changes)
    const audit = auditOf(caller, 'mark', at, {
      agent: id,
      detail: names.join(' '),
      before: stateOfMarks(before, names),
      after: stateOfMarks(marks, names),
    })
    const result = await context.store.write({
      kind: 'put',
      id,
      expect: revision,
      owner,
      format,
      document,
      lease: 'keep',
      marks,
      at,
      received: false,
      audit,
    })
    if (result.outcome === 'done') {
      if (!result.agent) throw new DirectoryError('internal_error', 'the store returned no agent')
      return context.catalog.apply(result.agent, { record: agent.record })
    }
    await context.catalog.reload(id)
  }
}

function withChanges(before: Marks, changes: MarkChanges): Marks {
  const entries = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries)
}
