import type { JsonValue } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { CallInput } from '../call.js'
import type { Identifiers } from '../identifiers.js'

/** The context of a call that an agent in this process gets. */
export interface LocalCall extends Identifiers {
  /** The called capability; undefined if the URI names none. */
  readonly operation?: string
  readonly signal: AbortSignal
}

/** An agent in this process. To stream, return an async iterable. */
export type LocalAgent = (
  input: CallInput | undefined,
  call: LocalCall,
) => JsonValue | Promise<JsonValue> | AsyncIterable<JsonValue>

/** Agents in this process. `agent+local://name` finds them before those of the local runtime. */
export interface LocalRegistry {
  /** Registers an agent until the returned function is called. Throws if the name is taken. */
  register(name: string, agent: LocalAgent): () => void
  get(name: string): LocalAgent | undefined
}

export function createLocalRegistry(): LocalRegistry {
  const agents = new Map<string, LocalAgent>()
  return {
    register(name, agent) {
      // Hosts of agent URIs are case-insensitive.
      const key = name.toLowerCase()
      if (agents.has(key)) throw new ClientError('conflict', `there is already a local agent named ${name}`)
      agents.set(key, agent)
      return () => {
        if (agents.get(key) === agent) agents.delete(key)
      }
    },
    get: (name) => agents.get(name.toLowerCase()),
  }
}
