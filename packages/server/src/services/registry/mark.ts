import type { Caller } from '../../policy/caller.js'
import type { Marks } from '../../store/store.js'
import { auditOf, type Context } from '../context.js'
import { stateOfMarks } from '../operations/audit-state.js'
import type { Agent } from './catalog.js'
import { rewriteAgent } from './rewrite.js'

/** Changes of an operator's marks; null removes a mark. */
export type MarkChanges = { [K in keyof Marks]?: Marks[K] | null }

/** Sets the operator's marks: verification, certification, quality, unsafe, status (C-23, C-95). */
export function markAgent(context: Context, id: string, changes: MarkChanges, caller: Caller): Promise<Agent> {
  const names = Object.keys(changes)
  return rewriteAgent(context, id, ({ stored: { marks: before } }, at) => {
    const marks = withChanges(before, changes)
    const states = { before: stateOfMarks(before, names), after: stateOfMarks(marks, names) }
    return { marks, audit: auditOf(caller, 'mark', at, { agent: id, detail: names.join(' '), ...states }) }
  })
}

function withChanges(before: Marks, changes: MarkChanges): Marks {
  const entries = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries)
}
