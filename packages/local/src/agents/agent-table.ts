import { isObject, type JsonObject } from '@switchboard/protocol'
import { LIMITS } from '../limits.js'
import { isAnswered } from '../listen-privately.js'
import { LocalError } from '../local-error.js'
import type { LocalAgent, Target } from './local-agent.js'

/** The agents of this computer by name, for as long as the runtime runs. */
export interface AgentTable {
  list(): readonly LocalAgent[]
  /** @throws {LocalError} `not_found` */
  get(name: string): LocalAgent
  /** True: the name was free. It stays with the agent that has it for as long as that one listens. */
  put(agent: LocalAgent): Promise<boolean>
  remove(name: string): boolean
  /** Forgets an agent that was found to be gone, unless another has come in its place. */
  forget(agent: LocalAgent): void
}

export function createAgentTable(): AgentTable {
  const agents = new Map<string, LocalAgent>()
  return {
    list: () => [...agents.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    get(name) {
      const agent = agents.get(name.toLowerCase())
      if (!agent) throw new LocalError('not_found', `no local agent is called ${name.slice(0, 100)}`)
      return agent
    },
    async put(agent) {
      const present = agents.get(agent.name)
      if (present && !isSame(present.target, agent.target) && (await isListening(present.target))) {
        throw new LocalError('conflict', `another agent is called ${agent.name} and still listens: use another name`)
      }
      if (!present && agents.size >= LIMITS.agents) {
        throw new LocalError('rate_limited', `no more than ${LIMITS.agents} agents are kept: remove some`)
      }
      agents.set(agent.name, agent)
      return present === undefined
    },
    remove: (name) => agents.delete(name.toLowerCase()),
    forget(agent) {
      if (agents.get(agent.name) === agent) agents.delete(agent.name)
    },
  }
}

const isSame = (a: Target, b: Target): boolean => JSON.stringify(a) === JSON.stringify(b)

function isListening(target: Target): Promise<boolean> {
  if ('socket' in target) return isAnswered(target.socket)
  const { hostname, port } = new URL(target.url)
  return isAnswered(Number(port || 80), hostname.replace(/^\[|\]$/g, ''))
}

/**
 * The descriptor as the runtime vouches for it: `transport.unix` is where the agent does listen, or is not there, since
 * callers trust that path (C-81).
 */
export function toDescriptor({ name, target, descriptor }: LocalAgent): JsonObject {
  const { unix: _claimed, ...others } = isObject(descriptor.transport) ? descriptor.transport : {}
  const local = { ...('socket' in target && { unix: target.socket }), local: `agent+local://${name}` }
  return { ...descriptor, transport: { ...others, ...local } }
}
