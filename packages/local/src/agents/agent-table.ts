import { isObject, type JsonObject } from '@switchboard/protocol'
import { LIMITS } from '../limits.js'
import { acceptsConnections } from '../listen-privately.js'
import { LocalError } from '../local-error.js'
import type { LocalAgent, Target } from './local-agent.js'

/** The registered agents by name. In memory only: agents register again after a restart of the runtime. */
export interface AgentTable {
  list(): readonly LocalAgent[]
  /** @throws {LocalError} `not_found` */
  get(name: string): LocalAgent
  /**
   * Adds or replaces an agent; true if the name was free.
   *
   * @throws {LocalError} `conflict` if another agent has the name and is still listening
   */
  put(agent: LocalAgent): Promise<boolean>
  remove(name: string): boolean
  /** Removes an agent that no longer listens, unless another one has taken its name since. */
  evict(agent: LocalAgent): void
}

export function createAgentTable(): AgentTable {
  const agents = new Map<string, LocalAgent>()
  return {
    list: () => [...agents.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    get(name) {
      const agent = agents.get(name.toLowerCase())
      if (!agent) throw noAgent(name)
      return agent
    },
    async put(agent) {
      const present = agents.get(agent.name)
      if (present && !isSame(present.target, agent.target) && (await isListening(present.target))) {
        throw new LocalError(
          'conflict',
          `the name ${agent.name} belongs to another agent that is still listening: use another name`,
        )
      }
      if (!present && agents.size >= LIMITS.agents) {
        throw new LocalError('rate_limited', `${LIMITS.agents} agents are registered already: remove some`)
      }
      agents.set(agent.name, agent)
      return present === undefined
    },
    remove: (name) => agents.delete(name.toLowerCase()),
    evict(agent) {
      if (agents.get(agent.name) === agent) agents.delete(agent.name)
    },
  }
}

/** There is no agent of that name. */
export const noAgent = (name: string): LocalError =>
  new LocalError('not_found', `there is no local agent named ${name.slice(0, 100)}`)

const isSame = (a: Target, b: Target): boolean => JSON.stringify(a) === JSON.stringify(b)

function isListening(target: Target): Promise<boolean> {
  if ('socket' in target) return acceptsConnections(target.socket)
  const { hostname, port } = new URL(target.url)
  return acceptsConnections(Number(port || 80), hostname.replace(/^\[|\]$/g, ''))
}

/**
 * The descriptor that callers get. `transport.unix` is the socket that the agent registered, or absent: callers trust
 * that path, so the agent's own claim is dropped (C-81).
 */
export function toDescriptor({ name, target, descriptor }: LocalAgent): JsonObject {
  const { unix: _claimed, ...others } = isObject(descriptor.transport) ? descriptor.transport : {}
  const local = { ...('socket' in target && { unix: target.socket }), local: `agent+local://${name}` }
  return { ...descriptor, transport: { ...others, ...local } }
}
