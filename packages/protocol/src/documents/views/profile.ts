import type { JsonObject } from '../../json.js'
import { compileFit } from '../../schema/compile-schema.js'
import { type AgentRecord, type Binding, given, type RegistryFacts, statusOf } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import { bindingSchema } from '../schemas/profile.js'
import { documentFor, reachableBindings, registryMembers } from './derive.js'

/** Agent Metadata of the profile (PROF §4); a document of another draft is mapped by Table 10. */
export function toProfile(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const document = documentFor('profile', record, () => derived(record, facts))
  return {
    ...document,
    id: record.id,
    ...registryMembers(record, facts),
    freshness: toFreshness(record, facts),
  }
}

/** A ranked candidate without its score and evidence (PROF §6.1), by level of detail. */
export function toCandidate(
  record: AgentRecord,
  facts: RegistryFacts,
  detail: 'minimal' | 'summary' | 'full',
): JsonObject {
  const redacted = record.redacted ? { redacted: true } : {}
  const bindings = profileBindings(record, facts)
  if (detail === 'minimal') {
    const reach = bindings.map(({ protocol, endpoint }) => ({
      ...given('protocol', protocol),
      ...given('endpoint', endpoint),
    }))
    return { id: record.id, status: statusOf(record, facts), bindings: reach, ...redacted }
  }
  if (detail === 'full') return { ...toProfile(record, facts), status: statusOf(record, facts) }
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    tags: profileTags(record),
    bindings,
    status: statusOf(record, facts),
    freshness: toFreshness(record, facts),
    ...credentialRefs(record),
    ...redacted,
  }
}

/** When the metadata was true and when we heard of it (PROF §4.8). */
export function toFreshness(record: AgentRecord, facts: RegistryFacts): JsonObject {
  return {
    ...given('metadata_updated_at', record.updatedAt),
    indexed_at: new Date(facts.modifiedAt).toISOString(),
    received_at: new Date(facts.receivedAt).toISOString(),
    ...given('expires_at', facts.expiresAt === undefined ? undefined : new Date(facts.expiresAt).toISOString()),
  }
}

function derived(record: AgentRecord, facts: RegistryFacts): JsonObject {
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
    bindings: profileBindings(record, facts).slice(0, LIMITS.bindings),
    ...(authentication && { auth: { ...authentication } }),
    ...given('constraints', record.constraints),
    status: record.status,
    ...given('version', record.version),
    ...given('updated_at', record.updatedAt),
  }
}

/** Tags and, because the profile has no other place for them, the names of capabilities (C-10). */
export const profileTags = (record: AgentRecord): string[] =>
  record.format === 'profile'
    ? [...record.tags]
    : [...new Set([...record.tags, ...record.capabilities.map(({ name }) => name)])]

export function profileBindings(record: AgentRecord, facts: RegistryFacts): JsonObject[] {
  return reachableBindings(record, facts).map((binding: Binding) => ({
    // A binding that another draft's document lists can be in the profile's words; an interface of a card is not.
    ...(binding.source && isBinding(binding.source) && binding.source),
    protocol: binding.protocol,
    endpoint: binding.endpoint,
    ...given('priority', binding.priority),
  }))
}

let fitsBinding: ((value: JsonObject) => boolean) | undefined

function isBinding(source: JsonObject): boolean {
  fitsBinding ??= compileFit(bindingSchema)
  return fitsBinding(source)
}

/** Pointers to proofs, kept apart because they are different proofs (C-29). */
function credentialRefs(record: AgentRecord): JsonObject {
  const signature = record.signature?.kid ?? record.signature?.ref
  const refs = [record.identity, signature].filter((ref) => typeof ref === 'string')
  return refs.length > 0 ? { credential_refs: refs } : {}
}
