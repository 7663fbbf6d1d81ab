import type { AgentRecord, DiscoveryRequest, JsonObject } from '@switchboard/protocol'
import type { Condition } from '@switchboard/search'
import { assertFilterLimits } from '../../policy/filter-limits.js'
import type { Context } from '../../services/context.js'
import { toConstraints } from '../../services/discovery/constraints.js'
import { AVAILABLE } from '../../services/discovery/find.js'

/** The hard filters of a discovery request: applied and unsupported ones. */
export interface DiscoveryFilters {
  readonly conditions: readonly Condition[]
  readonly applied: JsonObject
  /** Not applied, and listed in the response (PROF §5.1). */
  readonly unsupported: readonly string[]
  /** Constraints that the record passes only because it states nothing about them. */
  readonly unstated: (record: AgentRecord) => string[]
}

/** Reads the hard filters of a request: tags and the tags that satisfy them, protocols, constraints (C-50, C-51). */
export function toDiscoveryFilters(context: Context, wanted: DiscoveryRequest): DiscoveryFilters {
  const { taxonomy } = context
  const { required_tags: required = [], excluded_tags: excluded = [], preferred_tags, protocols = [] } = wanted
  assertFilterLimits({ required_tags: required, excluded_tags: excluded, preferred_tags, protocols }, '/')
  assertFilterLimits(wanted.constraints ?? {}, '/constraints/')
  const constraints = toConstraints(wanted.constraints ?? {}, context.catalog.get, context.now())
  const known = (tags: readonly string[]): string[] => tags.flatMap((tag) => taxonomy.read(tag) ?? [])
  /** The tag and what satisfies it in its place. */
  const accepted = (tag: string): string[] => [tag, ...taxonomy.satisfying(tag)]
  return {
    conditions: [
      {
        kind: 'profile-tags',
        required: known(required).map(accepted),
        excluded: known(excluded).flatMap(accepted),
      },
      ...(protocols.length > 0 ? [{ kind: 'profile-protocol', anyOf: protocols } satisfies Condition] : []),
      ...constraints.conditions,
      AVAILABLE,
    ],
    applied: {
      ...(required.length > 0 && { required_tags: known(required) }),
      ...(excluded.length > 0 && { excluded_tags: known(excluded) }),
      ...(protocols.length > 0 && { protocols }),
      ...(Object.keys(constraints.applied).length > 0 && { constraints: constraints.applied }),
    },
    unsupported: [
      ...constraints.unsupported,
      ...[...required, ...excluded].filter((tag) => taxonomy.read(tag) === undefined),
    ],
    unstated: constraints.unstated,
  }
}
