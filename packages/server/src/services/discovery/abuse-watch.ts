import type { AgentRecord, JsonObject } from '@switchboard/protocol'
import { type AbuseFinding, abuseFactor, createCopyDetector, findAbuse } from '@switchboard/search'
import type { Agent } from '../registry/catalog.js'

/** Agents that are looked at in one go, and milliseconds until the next: requests go first. */
const SLICE = 10
const PAUSE_MS = 4

/** Looks for those who try to be found more often than they should. */
export interface AbuseWatch {
  /** An agent that is new or has changed; `later`: one of many, looked at in the background. */
  note(agent: Agent, when: 'now' | 'later'): void
  forget(number: number): void
  /** What is known against the agent; nothing before it was looked at. */
  findingsOf(agent: Agent): readonly AbuseFinding[]
  /** What is left of its score, 0 to 1. */
  factorOf(agent: Agent): number
  /** Begins with those that were noted for later. */
  start(): void
  stop(): void
}

export function createAbuseWatch(onFinding: (agent: Agent, codes: readonly string[]) => void): AbuseWatch {
  const copies = createCopyDetector()
  const waiting = new Map<number, Agent>()
  const found = new Map<number, { record: AgentRecord; findings: readonly AbuseFinding[]; factor: number }>()
  let timer: NodeJS.Timeout | undefined

  const look = (agent: Agent): void => {
    const { number, owner, record, shown } = agent
    waiting.delete(number)
    copies.put(number, { record: shown, publisher: owner, open: record.visibility !== 'private' })
    const copied = copies.findingOf(number)
    const findings = copied ? [...findAbuse(shown), copied] : findAbuse(shown)
    if (findings.length === 0) {
      found.delete(number)
      return
    }
    found.set(number, { record, findings, factor: abuseFactor(findings) })
    // It may have been shown before it was looked at.
    agent.rendered.clear()
    onFinding(agent, [...new Set(findings.map(({ code }) => code))])
  }

  const lookOn = (): void => {
    let left = SLICE
    for (const agent of waiting.values()) {
      if (left-- === 0) break
      look(agent)
    }
    if (waiting.size > 0) timer = setTimeout(lookOn, PAUSE_MS).unref()
  }

  // A refresh makes another agent of the same record, which has been looked at.
  const of = ({ number, record }: Agent) => {
    const known = found.get(number)
    return known?.record === record ? known : undefined
  }

  return {
    note(agent, when) {
      if (of(agent)) return
      if (when === 'now') look(agent)
      else waiting.set(agent.number, agent)
    },
    forget(number) {
      waiting.delete(number)
      found.delete(number)
      copies.remove(number)
    },
    findingsOf: (agent) => of(agent)?.findings ?? [],
    factorOf: (agent) => of(agent)?.factor ?? 1,
    start: lookOn,
    stop: () => clearTimeout(timer),
  }
}

/** Findings as they are shown in a record's `verification`. */
export const toWarnings = (findings: readonly AbuseFinding[]): JsonObject[] =>
  findings.map(({ code, member, message }) => ({ code, member, message }))
