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
import type { Span } from '../../telemetry/traces.js'
import type { Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { constraintTest } from './constraints.js'
import { AVAILABLE, type Found, type FoundPage, findAgents } from './find.js'

/** A task, its context and the requirements for agents (AIDIP §6). */
export interface Intent {
  readonly text: string
  /** Further words about the task, such as its domain; they affect the order only. */
  readonly hints: readonly string[]
  /** Requirements by name; those not in `REQUIREMENTS` are reported as unsupported. */
  readonly policy: JsonObject
  readonly take: number
  /** Search for the text as it is written, without correcting typos. */
  readonly exact?: boolean | undefined
  /** Languages that the caller reads (`Accept-Language`). */
  readonly callerLanguages?: readonly string[] | undefined
  readonly caller: Caller
  /** The span that the search is part of. */
  readonly trace?: Span | undefined
}

export interface Resolution {
  readonly candidates: readonly Found[]
  /** Number of visible agents that were excluded, by the first requirement they fail. */
  readonly excluded: Readonly<Record<string, number>>
  readonly applied: readonly string[]
  readonly unsupported: readonly string[]
  readonly warnings: readonly string[]
  readonly searchId: string | undefined
  readonly corrected: FoundPage['corrected']
  readonly suggestions: FoundPage['suggestions']
}

/** Matches that are checked against the requirements; later ones would not be chosen anyway. */
const CHECKED_MATCHES = 200

/** Finds the agents that suit an intent, best first, without calling any of them. */
export async function resolveIntent(context: Context, intent: Intent): Promise<Resolution> {
  const { found, warnings, corrected, suggestions, rescore, searchIdFor } = await findAgents(context, {
    conditions: [AVAILABLE],
    text: intent.hints.length > 0 ? `${intent.text} (${intent.hints.join(', ')})` : intent.text,
    exact: intent.exact,
    callerLanguages: intent.callerLanguages,
    order: 'score',
    skip: 0,
    take: CHECKED_MATCHES,
    caller: intent.caller,
    trace: intent.trace,
  })
  const requirements = Object.entries(intent.policy).map(([name, value]) => ({
    name,
    holds: Object.hasOwn(REQUIREMENTS, name) ? REQUIREMENTS[name]?.(value) : undefined,
  }))
  const unsupported = requirements.filter(({ holds }) => holds === undefined).map(({ name }) => name)
  const excluded: Record<string, number> = {}
  const distrusted = new Map<string, string[]>()
  const suitable = found.filter(({ agent, record }) => {
    const distrust = distrustOf(context, agent)
    if (distrust !== undefined) distrusted.set(distrust, [...(distrusted.get(distrust) ?? []), record.id])
    const failed = distrust ?? requirements.find(({ holds }) => holds !== undefined && !holds(record, agent))?.name
    if (failed !== undefined) excluded[failed] = (excluded[failed] ?? 0) + 1
    return failed === undefined
  })
  auditDistrust(context, intent.caller, distrusted)
  const candidates = rescore(suitable).slice(0, intent.take)
  return {
    candidates,
    searchId: searchIdFor(candidates),
    excluded,
    applied: requirements.flatMap(({ name, holds }) => (holds ? [name] : [])),
    unsupported,
    corrected,
    suggestions,
    warnings: [
      ...warnings,
      ...unsupported.map((name) => `the policy member ${name} is not supported and was not applied`),
    ],
  }
}

/** Abuse factor at or below which an agent is not recommended: its text contains instructions for the reader. */
const ABUSE_THRESHOLD = 0.3
/** Reputation at or below which an agent is not recommended: most of its calls fail. */
const REPUTATION_THRESHOLD = 0.98

/** Why an agent is excluded regardless of the policy and of its own claims (AIDIP §9). */
function distrustOf({ abuse, reputationOf }: Context, agent: Agent): string | undefined {
  if (agent.stored.marks.unsafe === true) return 'unsafe'
  if (abuse.factorOf(agent) <= ABUSE_THRESHOLD) return 'suspicious'
  return reputationOf(agent) <= REPUTATION_THRESHOLD ? 'reputation' : undefined
}

/** Excluded agents that an entry of the audit log names for each reason. */
const NAMED_AGENTS = 3

/** Records in the audit log which agents were excluded and why, in one entry. */
function auditDistrust({ trail }: Context, caller: Caller, agents: ReadonlyMap<string, readonly string[]>): void {
  const all = [...agents.values()].flat()
  const [only] = all
  if (only === undefined) return
  if (all.length === 1) {
    trail.record(caller, 'resolve', { outcome: 'refused', agent: only, detail: [...agents.keys()].join() })
    return
  }
  const reasons = [...agents].map(([reason, ids]) => {
    const named = ids.toSorted().slice(0, NAMED_AGENTS).join(', ')
    return `${reason}: ${ids.length} (${named}${ids.length > NAMED_AGENTS ? ', …' : ''})`
  })
  trail.record(caller, 'resolve', { outcome: 'refused', detail: reasons.join('; ') })
}

type Holds = (record: AgentRecord, agent: Agent) => boolean

/** Requirements on trust, access and suitability. Trust comes from the operator: publishers' claims do not count (C-23). */
export const REQUIREMENTS: Readonly<Record<string, (value: JsonValue) => Holds>> = {
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
    const wanted = new Set(asStrings(types).map(canonicalAuthenticationType))
    return ({ authentication }) => wanted.has(authentication?.type ?? 'none')
  },
  protocols: (protocols) => {
    const wanted = asStrings(protocols)
    return ({ bindings }) =>
      bindings.some(({ protocol }) => wanted.some((requested) => matchesProtocol(requested, protocol)))
  },
  publishers: (publishers) => {
    const wanted = new Set(asStrings(publishers))
    return ({ publisher }) => publisher !== undefined && wanted.has(publisher)
  },
  excluded_tags: (tags) => {
    const unwanted = new Set(asStrings(tags).map(foldTag))
    return (record) => !record.tags.some((tag) => unwanted.has(foldTag(tag)))
  },
  region: (region) => constraintTest('region', region),
  data_residency: (region) => constraintTest('data_residency', region),
  max_cost: (cost) => constraintTest('max_cost', cost),
  max_latency_ms: (latency) => constraintTest('max_latency_ms', latency),
}
