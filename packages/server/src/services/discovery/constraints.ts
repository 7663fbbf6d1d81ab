import { type AgentRecord, foldTag, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { Condition } from '@switchboard/search'
import type { Agent } from '../registry/catalog.js'
import { confirmedAt } from '../registry/copies.js'

/** Constraints that are applied as hard filters; others are reported as unsupported (C-50). */
export const CONSTRAINTS = [
  'region',
  'max_results_age_seconds',
  'max_cost',
  'max_latency_ms',
  'data_residency',
] as const

/** The constraints of a request as conditions, and those that were not applied. */
export interface AppliedConstraints {
  readonly conditions: readonly Condition[]
  readonly applied: JsonObject
  readonly unsupported: readonly string[]
  /** Constraints that the record passes only because it states nothing about them. */
  readonly unstated: (record: AgentRecord) => string[]
}

/** Members of a record's `constraints` that state what a request constrains. */
const MEMBERS: Record<string, readonly string[]> = {
  region: ['region', 'regions'],
  data_residency: ['data_residency'],
  max_cost: ['cost', 'max_cost'],
  max_latency_ms: ['latency_ms', 'max_latency_ms'],
}

/** Converts constraints into conditions; a record fails only if it states something else (C-99). */
export function toConstraints(
  constraints: JsonObject,
  find: (id: string) => Agent | undefined,
  now: number,
): AppliedConstraints {
  const known = Object.entries(constraints).filter(([name, value]) => isSupported(name, value))
  return {
    conditions: known.map(([name, value]) => ({
      kind: 'test',
      holds: testOf(name, value, find, now),
      ...(name in MEMBERS && { unless: { member: 'constraints', holds: true } }),
    })),
    applied: Object.fromEntries(known),
    unsupported: Object.entries(constraints).flatMap(([name, value]) => (isSupported(name, value) ? [] : [name])),
    unstated: (record) =>
      known.flatMap(([name]) => (name in MEMBERS && statedBy(record, name).length === 0 ? [name] : [])),
  }
}

const statedBy = (record: AgentRecord, name: string): JsonValue[] =>
  (MEMBERS[name] ?? []).flatMap((member) => [record.constraints?.[member] ?? []].flat())

function isSupported(name: string, value: JsonValue): boolean {
  if (!CONSTRAINTS.some((known) => known === name)) return false
  return name.startsWith('max_') ? typeof value === 'number' : typeof value === 'string'
}

function testOf(
  name: string,
  value: JsonValue,
  find: (id: string) => Agent | undefined,
  now: number,
): (record: AgentRecord) => boolean {
  if (name === 'max_results_age_seconds') return (record) => ageOf(record, find(record.id), now) <= Number(value)
  return constraintTest(name, value)
}

/** Tests that a record states nothing that contradicts the constraint. */
export function constraintTest(name: string, value: JsonValue): (record: AgentRecord) => boolean {
  if (typeof value === 'number') {
    return (record) => statedBy(record, name).every((limit) => typeof limit !== 'number' || limit <= value)
  }
  return (record) => {
    const allowed = statedBy(record, name)
    return (
      allowed.length === 0 ||
      allowed.some((word) => typeof word === 'string' && foldTag(word) === foldTag(String(value)))
    )
  }
}

/** Seconds since the record was last confirmed: the later of updated_at and the last refresh (C-99). */
function ageOf(record: AgentRecord, agent: Agent | undefined, now: number): number {
  const updated = record.updatedAt === undefined ? 0 : Math.min(Date.parse(record.updatedAt), now)
  return (now - Math.max(updated, agent ? Math.min(confirmedAt(agent), now) : 0)) / 1000
}
