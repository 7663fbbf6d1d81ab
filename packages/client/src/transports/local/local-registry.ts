import type { JsonValue } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { CallInput } from '../call.js'
import type { Identifiers } from '../identifiers.js'

/** What an agent in this process is told of a call. */
export interface LocalCall extends Identifiers {
  /** The capability that is called; undefined if the URI names none. */
  readonly operation?: string
  readonly signal: AbortSignal
}

/** An agent in this process; one that gives parts as they come is an async generator. */
export type LocalAgent = (
  input: CallInput | undefined,
  call: LocalCall,
) => JsonValue | Promise<JsonValue> | AsyncIterable<JsonValue>

/** Agents that run in this process and are found by `agent+local://name` before any other. */
export interface LocalRegistry {
  /** Until the returned function is called. A name is taken once. */
  register(name: string, agent: LocalAgent): () => void
  get(name: string): LocalAgent | undefined
}

export function createLocalRegistry(): LocalRegistry {
  const agents = new Map<string, LocalAgent>()
  return {
    register(name, agent) {
      // Hosts of agent URIs have no case.
      const key = name.toLowerCase()
      if (agents.has(key)) throw new ClientError('conflict', `there is a local agent called ${name} already`)
      agents.set(key, agent)
      return () => {
        if (agents.get(key) === agent) agents.delete(key)
      }
    },
    get: (name) => agents.get(name.toLowerCase()),
  }
}
