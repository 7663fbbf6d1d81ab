import type { Agent } from '../registry/catalog.js'
import type { Replicas } from '../replicas/replicas.js'

/** Milliseconds after which vectors that another replica makes are looked up again. */
const RETRY_MS = 300
/** Milliseconds after which it counts as failed, and another one makes them. */
const CLAIM_MS = 60_000

/** Divides agents between replicas, so that each is embedded once. */
export interface DividedAgents {
  /** Agents that another replica embeds. */
  readonly size: number
  /** Returns those of the agents that this replica is to embed; the others are queued again after a moment. */
  divide(model: string, agents: readonly Agent[]): Promise<Agent[]>
}

export interface DivideOptions {
  readonly claim: Replicas['claim']
  readonly digestOf: (agent: Agent) => string
  readonly queueAgain: (agents: readonly Agent[]) => void
}

export function divideAgents({ claim, digestOf, queueAgain }: DivideOptions): DividedAgents {
  const elsewhere = new Set<Agent>()

  const wait = (agents: readonly Agent[]): void => {
    for (const agent of agents) elsewhere.add(agent)
    const lookAgain = (): void => {
      for (const agent of agents) elsewhere.delete(agent)
      queueAgain(agents)
    }
    setTimeout(lookAgain, RETRY_MS).unref()
  }

  return {
    get size() {
      return elsewhere.size
    },
    async divide(model, agents) {
      if (agents.length === 0) return []
      const keyed = new Map(agents.map((agent) => [`vectors ${model} ${agent.number} ${digestOf(agent)}`, agent]))
      const ours = await claim([...keyed.keys()], CLAIM_MS)
      const theirs = [...keyed].flatMap(([key, agent]) => (ours.has(key) ? [] : [agent]))
      if (theirs.length > 0) wait(theirs)
      return [...keyed].flatMap(([key, agent]) => (ours.has(key) ? [agent] : []))
    },
  }
}
