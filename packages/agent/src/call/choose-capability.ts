import { type JsonValue, matchOperation } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import { AgentError, invalidInput } from '../errors.js'

/** Capability names that an error message lists. */
const NAMES_LISTED = 50

/** The capability that a call is for (C-58), or the error that says which ones there are. */
export function chooseCapability(
  capabilities: ReadonlyMap<string, Capability>,
  inPath: string | undefined,
  input: JsonValue,
): { capability: Capability; input: JsonValue } {
  const callable = Array.from(capabilities.values(), (capability) => ({
    name: capability.name,
    inputs: capability.input,
    capability,
  }))
  const match = matchOperation(callable, inPath, input)
  const names = [...capabilities.keys()].slice(0, NAMES_LISTED)
  const listed = names.map((name) => `"${name}"`).join(', ')
  switch (match.kind) {
    case 'match':
      return { capability: match.operation.capability, input: match.input }
    case 'missing':
      throw invalidInput([{ at: '/operation', message: `is required: one of ${listed}` }])
    case 'conflict':
      throw invalidInput([
        { at: '/operation', message: `must be "${match.operation.name}", as in the URL, or be left out` },
      ])
    case 'unknown': {
      if (match.place === 'url') {
        const message = `The requested capability '${inPath?.slice(0, 100)}' was not found.`
        throw new AgentError('capability_not_found', message, { members: { capabilities: names } })
      }
      throw new AgentError('capability_not_found', `/operation must be one of ${listed}`)
    }
  }
}
