import { discoveryRequestSchema } from '@switchboard/protocol'
import { component } from '../schemas/component.js'
import { freshnessSchema, provenanceSchema } from '../schemas/documents.js'
import { anyObject, count, flag, list, object, oneOf, text, texts, time } from '../schemas/parts.js'
import { matchMembers, scoreSchema, spellingMembers } from '../schemas/search.js'

export const discoveryRequest = component('DiscoveryRequest', discoveryRequestSchema)

export const descriptionSchema = object({
  conformance_level: text,
  serialization: texts,
  taxonomies: texts,
  supported_constraints: texts,
  detail_levels: list(oneOf('minimal', 'summary', 'full')),
  limits: { type: 'object', additionalProperties: count },
  validation: text,
  unknown_fields: text,
  freshness: text,
  hard_filters: text,
  score_components: texts,
  ranking: anyObject,
  redaction: text,
  federation: text,
  abuse_controls: text,
})

const binding = { ...object({ protocol: text, endpoint: text }), additionalProperties: true }

const summary = {
  name: text,
  description: text,
  tags: texts,
  freshness: freshnessSchema,
  credential_refs: texts,
  redacted: flag,
  provenance: provenanceSchema,
}
const evidence = {
  score_components: { type: 'object', additionalProperties: scoreSchema },
  ...matchMembers,
  matched_tags: texts,
  expanded_tags: list(object({ tag: text, via: text })),
  matched_examples: list(object({ id: text, score: scoreSchema, text }, 'id')),
}

const candidate = component('Candidate', {
  ...object(
    { id: text, status: text, bindings: list(binding), score: scoreSchema, ...summary, ...evidence },
    ...Object.keys(summary),
    ...Object.keys(evidence),
  ),
  description: 'with `detail: full` a ProfileView; the evidence only with `include_evidence`',
  additionalProperties: true,
})

export const discoverySchema = component(
  'DiscoveryResponse',
  object(
    {
      request_id: text,
      generated_at: time,
      candidates: list(candidate),
      search_id: text,
      applied_filters: object(
        { required_tags: texts, excluded_tags: texts, protocols: texts, constraints: anyObject },
        ...['required_tags', 'excluded_tags', 'protocols', 'constraints'],
      ),
      unsupported_filters: texts,
      ...spellingMembers,
      warnings: texts,
    },
    'search_id',
    'unsupported_filters',
    ...Object.keys(spellingMembers),
    'warnings',
  ),
)
