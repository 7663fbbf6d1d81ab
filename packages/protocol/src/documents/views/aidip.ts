import { isEndpoint } from '../../identifiers.js'
import { isObject, type JsonObject } from '../../json.js'
import type { Authentication } from '../authentication.js'
import { type AgentRecord, given, type Operation, type RegistryFacts, statusOf } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import { callableOperations, documentFor, httpEndpoint, originOf, registryMembers } from './derive.js'

/** The revision to write: they differ in `authentication` and in the name of the publisher member. */
export type AidipRevision = '01' | '00'

/** The full metadata document (01 §3, 00 §4). */
export function toAidip(record: AgentRecord, facts: RegistryFacts, revision: AidipRevision = '01'): JsonObject {
  const own = record.format === 'aidip'
  const document = documentFor('aidip', record, () => derived(record, facts))
  return {
    ...document,
    id: record.id,
    ...publisher(record, document, revision),
    ...(record.authentication &&
      (revision === '01' || !own) && {
        authentication: authentication(record, record.authentication),
      }),
    ...registryMembers(record, facts),
  }
}

/** The short form in lists and search results (C-05). */
export function toAidipSummary(record: AgentRecord, facts: RegistryFacts): JsonObject {
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    endpoint: endpointOf(record, facts),
    capabilities: capabilityNames(record),
    tags: [...record.tags],
    status: statusOf(record, facts),
    ...originOf(facts),
  }
}

function derived(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const operations = callableOperations(record).slice(0, LIMITS.operations)
  return {
    name: record.name,
    description: record.description,
    ...given('version', record.version),
    capabilities: capabilityNames(record).slice(0, LIMITS.capabilities),
    tags: record.tags.slice(0, LIMITS.tags),
    endpoint: httpEndpoint(record, facts),
    ...given('supported_languages', record.languages?.slice(0, LIMITS.texts)),
    status: record.status,
    ...(record.protocols.length > 0 && { protocols: record.protocols.slice(0, LIMITS.texts) }),
    ...(operations.length > 0 ? { operations: operations.map(toOperation) } : unknownOperations(record)),
  }
}

/**
 * AIDIP requires inputs and outputs (C-08); at the top level, they name no operation. It also requires a word about what the
 * agent is.
 */
const unknownOperations = ({ capabilities, tags }: AgentRecord): JsonObject => ({
  inputs: { type: 'object' },
  outputs: { type: 'object' },
  ...(capabilities.length === 0 && tags.length === 0 && { tags: ['mcp'] }),
})

const toOperation = ({ name, description, inputs, outputs, endpoint, examples }: Operation): JsonObject => ({
  name,
  description: description ?? '',
  inputs,
  outputs,
  ...given('endpoint', endpoint !== undefined && isEndpoint(endpoint) ? endpoint : undefined),
  ...given('examples', examples?.slice(0, LIMITS.examples)),
})

const endpointOf = (record: AgentRecord, facts: RegistryFacts): string => {
  const own = record.format === 'aidip' ? record.document.endpoint : undefined
  return typeof own === 'string' ? own : httpEndpoint(record, facts)
}

const capabilityNames = (record: AgentRecord): string[] => [...new Set(record.capabilities.map(({ name }) => name))]

/** `publisher` in 01, `provider` in 00; the member that was sent stays too. */
function publisher(record: AgentRecord, document: JsonObject, revision: AidipRevision): JsonObject {
  const word = revision === '01' ? 'publisher' : 'provider'
  return record.publisher === undefined || document[word] !== undefined ? {} : { [word]: record.publisher }
}

/** In 01 it is always an object with a canonical type (C-11). */
function authentication(record: AgentRecord, { type, instructions, scopes, schemes }: Authentication): JsonObject {
  const sent = record.document.authentication
  if (record.format === 'aidip' && isObject(sent)) return { ...sent, type }
  return {
    type,
    ...given('instructions', instructions),
    ...given('scopes', scopes?.slice(0, LIMITS.texts)),
    ...(schemes.length > 1 && { schemes: schemes.slice(0, LIMITS.texts) }),
  }
}
