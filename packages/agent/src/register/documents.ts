import { given, type JsonObject } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import type { Description, Reach } from '../descriptor/description.js'
import { type WayIn, waysInto } from '../descriptor/ways.js'
import { AgentError } from '../errors.js'
import type { Versions } from '../versions.js'

/** The faces of a directory that an agent can register through. */
export type RegistrationFormat = 'aidip' | 'profile' | 'ad'

/** What there is to say about the agent to a directory. */
export interface Registrable {
  readonly description: Description
  readonly versions: Versions
  readonly reach: Reach
}

/** The agent in the words of one draft. */
export function toRegistration(format: RegistrationFormat, agent: Registrable): JsonObject {
  const { description: about, versions, reach } = agent
  const ways = waysInto(reach)
  const [first] = ways
  if (!first || (reach.baseUrl === undefined && format !== 'profile')) {
    throw new AgentError(
      'invalid_definition',
      'the agent has no address to register: call listen() first, or set publicUrl',
    )
  }
  const capabilities = [...versions.latest.capabilities.values()]
  const shared = {
    description: about.description,
    version: versions.latest.version,
    ...given('visibility', about.visibility),
    ...(about.private && { private: [...about.private] }),
  }
  switch (format) {
    case 'aidip':
      return {
        ...shared,
        ...common(about),
        capabilities: capabilities.map(({ name }) => name),
        ...given('publisher', about.publisher),
        endpoint: first.endpoint,
        operations: capabilities.map(toOperation),
        authentication: authenticationOf(reach.schemes),
        ...(about.languages && { supported_languages: [...about.languages] }),
        bindings: toBindings(ways),
      }
    case 'profile':
      return {
        ...shared,
        ...common(about),
        ...given('publisher', about.publisher),
        bindings: toBindings(ways),
        capabilities: capabilities.map((capability) => toCapability(capability)),
        examples: examplesOf(about, capabilities),
        auth: { ...authenticationOf(reach.schemes), schemes: [...reach.schemes] },
      }
    case 'ad':
      return {
        ...shared,
        base: first.endpoint,
        // All of these are spoken to at the one base: A2A finds its card below it.
        protocols: ways.map(({ protocol }) => protocol).filter((word, i) => i === 0 || word === 'a2a'),
        capabilities: capabilities.map((capability) => ({ ...toCapability(capability), type: 'tool' })),
        ...given('vendor', about.publisher),
      }
  }
}

const common = (about: Description): JsonObject => ({
  id: about.id ?? about.name,
  name: about.name,
  tags: [...(about.tags ?? [])],
  status: about.status ?? 'active',
  ...about.extensions,
})

const toBindings = (ways: readonly WayIn[]): JsonObject[] =>
  ways.map(({ protocol, endpoint, details }, priority) => ({ ...details, protocol, endpoint, priority }))

/** The first scheme is the one that callers are told to use. */
const authenticationOf = (schemes: readonly string[]): JsonObject => ({
  type: schemes.find((scheme) => scheme !== 'none') ?? 'none',
})

const toOperation = ({ name, description, input, output, streaming, idempotent, safe }: Capability): JsonObject => ({
  name,
  description,
  inputs: input,
  outputs: output,
  ...(streaming && { streaming: true }),
  ...((idempotent || safe) && { idempotent: true }),
})

const toCapability = ({ name, description, version, tags, input, output }: Capability): JsonObject => ({
  name,
  description,
  version,
  tags: [...tags],
  input_schema: input,
  output_schema: output,
})

function examplesOf(about: Description, capabilities: readonly Capability[]): JsonObject[] {
  const own = (about.examples ?? []).map((text) => ({ text }))
  const ofCapabilities = capabilities.flatMap(({ name, examples = [] }) =>
    examples.map((text, i) => ({ id: `${name}-${i + 1}`, text })),
  )
  return [...own.map((example, i) => ({ id: `example-${i + 1}`, ...example })), ...ofCapabilities]
}
