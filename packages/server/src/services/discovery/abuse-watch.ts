import type { AgentRecord, JsonObject } from '@switchboard/protocol'
import { type AbuseFinding, abuseFactor, createNearDuplicateDetector, findAbuse } from '@switchboard/search'
import type { Agent, CatalogListener } from '../registry/catalog.js'
import { createSlicedWork } from '../time-slices.js'

/** Agents checked in one step: a few milliseconds. */
const STEP = 3

/** Detects agents whose documents try to manipulate their rank. */
export interface AbuseWatch extends Required<Pick<CatalogListener, 'changed' | 'removed'>> {
  /** Empty until the agent has been checked. */
  findingsOf(agent: Agent): readonly AbuseFinding[]
  /** The findings as they appear in a document's `verification`. */
  warningsOf(agent: Agent): readonly JsonObject[]
  /** Penalty factor of its score, 0 to 1; 1: no findings. */
  factorOf(agent: Agent): number
  /** Starts to check the agents that were loaded in bulk. */
  start(): void
  stop(): void
}

export function createAbuseWatch(onFinding: (agent: Agent, codes: readonly string[]) => void): AbuseWatch {
  const duplicates = createNearDuplicateDetector()
  const waiting = new Map<number, Agent>()
  const found = new Map<number, { record: AgentRecord; findings: readonly AbuseFinding[]; factor: number }>()

  const check = (agent: Agent): void => {
    const { number, owner, record, shown } = agent
    waiting.delete(number)
    duplicates.put(number, { record: shown, publisher: owner, isPublic: record.visibility !== 'private' })
    const flood = duplicates.findingOf(number)
    const findings = flood ? [...findAbuse(shown), flood] : findAbuse(shown)
    if (findings.length === 0) {
      found.delete(number)
      return
    }
    found.set(number, { record, findings, factor: abuseFactor(findings) })
    // Documents may have been rendered before the check, without its warnings.
    agent.views.clear(agent)
    onFinding(agent, [...new Set(findings.map(({ code }) => code))])
  }

  let isStarted = false
  const work = createSlicedWork(() => {
    let left = STEP
    for (const agent of waiting.values()) {
      if (left-- === 0) break
      check(agent)
    }
    return waiting.size > 0
  })

  // A refresh makes a new agent of the same record, which need not be checked again.
  const resultOf = ({ number, record }: Agent) => {
    const known = found.get(number)
    return known?.record === record ? known : undefined
  }

  const findingsOf = (agent: Agent): readonly AbuseFinding[] => resultOf(agent)?.findings ?? []

  return {
    changed(agent, when) {
      if (resultOf(agent)) return
      if (when === 'now') check(agent)
      else {
        waiting.set(agent.number, agent)
        if (isStarted) work.run()
      }
    },
    removed(number) {
      waiting.delete(number)
      found.delete(number)
      duplicates.remove(number)
    },
    findingsOf,
    warningsOf: (agent) => findingsOf(agent).map(({ code, member, message }) => ({ code, member, message })),
    factorOf: (agent) => resultOf(agent)?.factor ?? 1,
    start() {
      isStarted = true
      work.run()
    },
    stop: work.stop,
  }
}
