import type { LearnedOperations } from '@switchboard/protocol'
import type { Agent } from '../registry/catalog.js'
import { memoryOfLearned } from './learned-value.js'

/** Counts the memory that the lists of each owner's agents take. */
export interface LearnedBytes {
  /** Takes the list of an agent into account as it is now. */
  count(agent: Agent): void
  remove(agent: Pick<Agent, 'number'>): void
  /** What the owner of the agent would have with another list of it. */
  with(agent: Agent, learned: LearnedOperations): number
}

export function createLearnedBytes(): LearnedBytes {
  const agents = new Map<number, { readonly owner: string; readonly list: LearnedOperations; readonly bytes: number }>()
  const owners = new Map<string, number>()

  const add = (owner: string, bytes: number): void => {
    const sum = (owners.get(owner) ?? 0) + bytes
    if (sum === 0) owners.delete(owner)
    else owners.set(owner, sum)
  }

  const remove = ({ number }: Pick<Agent, 'number'>): void => {
    const known = agents.get(number)
    if (!known) return
    agents.delete(number)
    add(known.owner, -known.bytes)
  }

  return {
    count(agent) {
      const { number, owner, record } = agent
      const known = agents.get(number)
      if (known?.list === record.learned && (known === undefined || known.owner === owner)) return
      remove(agent)
      if (!record.learned) return
      const bytes = memoryOfLearned(record.learned)
      agents.set(number, { owner, list: record.learned, bytes })
      add(owner, bytes)
    },
    remove,
    with({ number, owner }, learned) {
      const known = agents.get(number)
      return (owners.get(owner) ?? 0) - (known?.owner === owner ? known.bytes : 0) + memoryOfLearned(learned)
    },
  }
}
