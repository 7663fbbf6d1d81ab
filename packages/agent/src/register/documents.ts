import { type DocumentFormat, given, type JsonObject } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import { type AgentBinding, bindingsOf } from '../descriptor/bindings.js'
import type { Description, Reach } from '../descriptor/description.js'
import { AgentError } from '../errors.js'
import type { Versions } from '../versions.js'

/** The document formats that an agent can register with. */
export type RegistrationFormat = Extract<DocumentFormat, 'aidip' | 'profile' | 'directory'>

/** What a registration is made from. */
export interface Registrable {
  readonly description: Description
  readonly versions: Versions
  readonly reach: Reach
}

/** The registration document in the format of one draft. */
export function toRegistration(format: RegistrationFormat, agent: Registrable): JsonObject {
  const { description: about, versions, reach } = agent
  const bindings = bindingsOf(reach)
  const [first] = bindings
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
        bindings: toBindings(bindings),
      }
    case 'profile':
      return {
        ...shared,
        ...common(about),
        ...given('publisher', about.publisher),
        bindings: toBindings(bindings),
        capabilities: capabilities.map((capability) => toCapability(capability)),
        examples: examplesOf(about, capabilities),
        auth: { ...authenticationOf(reach.schemes), schemes: [...reach.schemes] },
      }
    case 'directory':
      return {
        ...shared,
        base: first.endpoint,
        // The document has one base URL: HTTP works there, and A2A clients find the card below it.
        protocols: bindings.map(({ protocol }) => protocol).filter((protocol, i) => i === 0 || protocol === 'a2a'),
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

const toBindings = (bindings: readonly AgentBinding[]): JsonObject[] =>
  bindings.map(({ protocol, endpoint, details }, priority) => ({ ...details, protocol, endpoint, priority }))

/** The formats have room for one scheme: the first that authenticates. */
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
