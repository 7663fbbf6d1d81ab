import {
  type JsonObject,
  managedInterface,
  managedSecurity,
  type RegistryFacts,
  readRecord,
  toDescriptor,
} from '@switchboard/protocol'
import { DISCOVERY_SKILL } from '../a2a/directory-server.js'

export interface DirectoryCardOptions {
  /** URL of the directory. */
  readonly id: string
  readonly version: string
  /** What callers without credentials may discover. */
  readonly anonymous: 'public' | 'none'
  readonly facts: Omit<RegistryFacts, 'baseUrl' | 'number' | 'verification'>
}

const MODES = ['text/plain', 'application/json']

/**
 * The directory's own card: an A2A card for clients of 1.0 and 0.3 that is also a descriptor by AURI §7. As such it names
 * the search over HTTP; the members of A2A are about the A2A server.
 */
export function toDirectoryCard({ id, version, anonymous, facts }: DirectoryCardOptions): JsonObject {
  const schemes = [...(anonymous === 'public' ? ['none'] : []), 'api_key', 'oauth2_bearer']
  const record = readRecord(
    'aidip',
    {
      id,
      name: 'Switchboard',
      description: 'Directory of AI agents: register agents, find the right one for a task, read how to call it.',
      version,
      capabilities: ['agent-discovery', 'agent-registration'],
      tags: ['directory', 'discovery', 'registry'],
      endpoint: `${id}/agents/search`,
      protocols: ['https'],
      authentication: { type: schemes[0] ?? 'none', schemes },
      operations: [
        {
          name: 'search',
          description: 'Find agents by natural language and filters.',
          inputs: { query: 'string' },
          outputs: {},
        },
      ],
    },
    id,
  )
  const verification = { state: 'self-asserted' }
  const { securitySchemes = {}, securityRequirements = [] } = managedSecurity('1.0', 'discover')
  return {
    ...toDescriptor(record, { ...facts, baseUrl: id, number: 0, verification }),
    ...managedInterface(`${id}/a2a`, '0.3'),
    ...managedInterface(`${id}/a2a`, '1.0'),
    capabilities: { streaming: true },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    securitySchemes,
    ...(anonymous === 'none' && { securityRequirements }),
    skills: [DISCOVERY_SKILL],
  }
}
