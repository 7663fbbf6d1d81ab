import {
  type AgentRecord,
  asStrings,
  canonicalAuthenticationType,
  foldTag,
  type JsonObject,
  type JsonValue,
  matchesProtocol,
} from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import { auditOf, type Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { constraintTest } from './constraints.js'
import { AVAILABLE, type Found, findAgents } from './find.js'

/** What is to be done, where, and under which demands (AIDIP §6). */
export interface Intent {
  readonly text: string
  /** Words that say more about the task, such as its domain; they order and never exclude. */
  readonly hints: readonly string[]
  /** Demands by name; `DEMANDS` are known, others are reported. */
  readonly policy: JsonObject
  readonly take: number
  readonly caller: Caller
}

export interface Resolution {
  readonly candidates: readonly Found[]
  /** How many that the caller may see were left out, by the first demand they missed. */
  readonly excluded: Readonly<Record<string, number>>
  readonly applied: readonly string[]
  readonly unsupported: readonly string[]
  readonly warnings: readonly string[]
}

/** As many matches are looked at for one intent; beyond them nothing would be picked anyway. */
const LOOKED_AT = 200

/** Names the agents fit for an intent, best first, without calling any of them. */
export async function resolveIntent(context: Context, intent: Intent): Promise<Resolution> {
  const { found, warnings } = await findAgents(context, {
    conditions: [AVAILABLE],
    text: intent.hints.length > 0 ? `${intent.text} (${intent.hints.join(', ')})` : intent.text,
    order: 'score',
    skip: 0,
    take: LOOKED_AT,
    caller: intent.caller,
  })
  const demands = Object.entries(intent.policy).map(([name, value]) => ({
    name,
    holds: Object.hasOwn(DEMANDS, name) ? DEMANDS[name]?.(value) : undefined,
  }))
  const unsupported = demands.filter(({ holds }) => holds === undefined).map(({ name }) => name)
  const excluded: Record<string, number> = {}
  const candidates = found.filter(({ agent, record }) => {
    const distrust = distrustOf(context, agent)
    if (distrust !== undefined) noteDistrust(context, intent.caller, agent, distrust)
    const missed = distrust ?? demands.find(({ holds }) => holds !== undefined && !holds(record, agent))?.name
    if (missed !== undefined) excluded[missed] = (excluded[missed] ?? 0) + 1
    return missed === undefined
  })
  return {
    candidates: candidates.slice(0, intent.take),
    excluded,
    applied: demands.flatMap(({ name, holds }) => (holds ? [name] : [])),
    unsupported,
    warnings: [...warnings, ...unsupported.map((name) => `the demand ${name} is not supported and was not applied`)],
  }
}

/** What is left of the score of an agent that tries to command its readers: it is not recommended. */
const SUSPICIOUS = 0.3
/** The reputation of an agent whose calls mostly fail. */
const BAD_REPUTATION = 0.98

/** Why an agent is no candidate whatever the policy, and whatever it says of itself (AIDIP §9). */
function distrustOf({ abuse, reputationOf }: Context, agent: Agent): string | undefined {
  if (agent.stored.marks.unsafe === true) return 'unsafe'
  if (abuse.factorOf(agent) <= SUSPICIOUS) return 'suspicious'
  return reputationOf(agent) <= BAD_REPUTATION ? 'reputation' : undefined
}

/** Operators find in the audit who was left out and why. */
function noteDistrust({ trail, now }: Context, caller: Caller, { record }: Agent, reason: string): void {
  trail.add(auditOf(caller, 'resolve', now(), { agent: record.id, outcome: 'refused', detail: reason }))
}

type Holds = (record: AgentRecord, agent: Agent) => boolean

/** Demands on trust, reach and fitness. Trust is the operator's word: a publisher's claims of itself do not count (C-23). */
export const DEMANDS: Readonly<Record<string, (value: JsonValue) => Holds>> = {
  min_quality_score:
    (least) =>
    (_record, { stored }) =>
      (stored.marks.quality_score ?? 0) >= Number(least),
  require_verified:
    (isWanted) =>
    (_record, { stored }) =>
      isWanted !== true || stored.marks.verification?.state === 'verified',
  require_certification:
    (isWanted) =>
    (_record, { stored }) =>
      isWanted !== true || stored.marks.certification !== undefined,
  authentication: (types) => {
    const wanted = asStrings(types).map(canonicalAuthenticationType)
    return ({ authentication }) => wanted.includes(authentication?.type ?? 'none')
  },
  protocols: (protocols) => {
    const wanted = asStrings(protocols)
    return ({ bindings }) =>
      bindings.some(({ protocol }) => wanted.some((requested) => matchesProtocol(requested, protocol)))
  },
  publishers: (publishers) => {
    const wanted = asStrings(publishers)
    return ({ publisher }) => publisher !== undefined && wanted.includes(publisher)
  },
  excluded_tags: (tags) => {
    const unwanted = asStrings(tags).map(foldTag)
    return (record) => !record.tags.some((tag) => unwanted.includes(foldTag(tag)))
  },
  region: (region) => constraintTest('region', region),
  data_residency: (region) => constraintTest('data_residency', region),
  max_cost: (cost) => constraintTest('max_cost', cost),
  max_latency_ms: (latency) => constraintTest('max_latency_ms', latency),
}
