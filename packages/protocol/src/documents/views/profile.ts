import { matchesProtocol } from '../../identifiers.js'
import { asObjects, type JsonObject } from '../../json.js'
import { compileFit } from '../../schema/compile-schema.js'
import { type AgentRecord, type Binding, given, type RegistryFacts, statusOf } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import { bindingSchema } from '../schemas/profile.js'
import { documentFor, reachableBindings, registryMembers } from './derive.js'

/** Agent Metadata of the profile (PROF §4); other formats are mapped by Table 10. */
export const toProfile = (record: AgentRecord, facts: RegistryFacts): JsonObject =>
  profileDocument(record, facts, reachableBindings(record, facts))

/**
 * A ranked candidate without its score and evidence (PROF §6.1), by level of detail.
 *
 * @param protocols shows only the bindings that use one of these; empty: all bindings
 */
export function toCandidate(
  record: AgentRecord,
  facts: RegistryFacts,
  detail: 'minimal' | 'summary' | 'full',
  protocols: readonly string[] = [],
): JsonObject {
  const isUsable = (protocol: string): boolean =>
    protocols.length === 0 || protocols.some((requested) => matchesProtocol(requested, protocol))
  const usable = reachableBindings(record, facts).filter(({ protocol }) => isUsable(protocol))
  const redacted = record.redacted ? { redacted: true } : {}
  if (detail === 'minimal') {
    const bindings = usable.map(({ protocol, endpoint }) => ({ protocol, endpoint }))
    return {
      id: record.id,
      status: statusOf(record, facts),
      bindings,
      ...redacted,
      ...given('provenance', facts.provenance),
    }
  }
  if (detail === 'full') {
    const document = profileDocument(record, facts, usable)
    // A profile document has its bindings as they were registered.
    const bindings = asObjects(document.bindings).filter(({ protocol }) => isUsable(String(protocol)))
    return { ...document, bindings, status: statusOf(record, facts) }
  }
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    tags: profileTags(record),
    bindings: usable.map(toProfileBinding),
    status: statusOf(record, facts),
    freshness: toFreshness(record, facts),
    ...credentialRefs(record),
    ...redacted,
    ...given('provenance', facts.provenance),
  }
}

function profileDocument(record: AgentRecord, facts: RegistryFacts, bindings: readonly Binding[]): JsonObject {
  return {
    ...documentFor('profile', record, () => derived(record, bindings)),
    id: record.id,
    ...registryMembers(record, facts),
    freshness: toFreshness(record, facts),
  }
}

/** When the metadata was written, received and indexed (PROF §4.8). */
export function toFreshness(record: AgentRecord, facts: RegistryFacts): JsonObject {
  return {
    ...given('metadata_updated_at', record.updatedAt),
    indexed_at: new Date(facts.modifiedAt).toISOString(),
    received_at: new Date(facts.receivedAt).toISOString(),
    ...given('expires_at', facts.expiresAt === undefined ? undefined : new Date(facts.expiresAt).toISOString()),
  }
}

function derived(record: AgentRecord, bindings: readonly Binding[]): JsonObject {
  const { authentication } = record
  const examples = record.examples.slice(0, LIMITS.examples)
  return {
    name: record.name,
    description: record.description,
    tags: profileTags(record).slice(0, LIMITS.tags),
    ...(examples.length > 0 && {
      examples: examples.map(({ id, text, tags }) => ({
        ...given('id', id),
        text,
        ...given('tags', tags?.slice(0, LIMITS.texts)),
      })),
    }),
    bindings: bindings.slice(0, LIMITS.bindings).map(toProfileBinding),
    ...(authentication && { auth: { ...authentication } }),
    ...given('constraints', record.constraints),
    status: record.status,
    ...given('version', record.version),
    ...given('updated_at', record.updatedAt),
  }
}

/** The tags, and the names of capabilities, for which the profile has no other member (C-10). */
export const profileTags = (record: AgentRecord): string[] =>
  record.format === 'profile'
    ? [...record.tags]
    : [...new Set([...record.tags, ...record.capabilities.map(({ name }) => name)])]

const toProfileBinding = (binding: Binding): JsonObject => ({
  // Bindings in documents of other formats may have the profile's members; interfaces of a card do not.
  ...(binding.source && isBinding(binding.source) && binding.source),
  protocol: binding.protocol,
  endpoint: binding.endpoint,
  ...given('priority', binding.priority),
})

let fitsBinding: ((value: JsonObject) => boolean) | undefined

function isBinding(source: JsonObject): boolean {
  fitsBinding ??= compileFit(bindingSchema)
  return fitsBinding(source)
}

/** References to the proof of identity and to the signature, which are different proofs (C-29). */
function credentialRefs(record: AgentRecord): JsonObject {
  const signature = record.signature?.kid ?? record.signature?.ref
  const refs = [record.identity, signature].filter((ref) => typeof ref === 'string')
  return refs.length > 0 ? { credential_refs: refs } : {}
}
