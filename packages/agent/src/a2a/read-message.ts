import { inputOfMessage, type JsonObject, type JsonValue, skillOfMessage } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import { invalidInput } from '../errors.js'

/** The skill that a message is for; with one skill, the message need not name it. */
export function skillOf(message: JsonObject, capabilities: ReadonlyMap<string, Capability>): Capability {
  const named = skillOfMessage(message)
  const [only] = capabilities.size === 1 ? capabilities.values() : []
  const chosen = named === undefined ? only : capabilities.get(named)
  if (chosen) return chosen
  const names = Array.from(capabilities.keys(), (name) => `"${name}"`)
    .slice(0, 50)
    .join(', ')
  throw invalidInput([{ at: '/metadata/skillId', message: `must be one of ${names}` }])
}

/** The input in a message: its data part, or else its text in a member that takes text. */
export function inputOf(message: JsonObject, { input }: Capability): JsonValue {
  const found = inputOfMessage(message, input)
  if (found !== undefined) return found
  throw invalidInput([{ at: '/parts', message: 'must hold a data part with the input, or a text part' }])
}
