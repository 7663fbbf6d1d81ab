import { isDeepStrictEqual } from 'node:util'
import { type AgentRecord, sameJson } from '@switchboard/protocol'
import type { Agent } from './catalog.js'
import { isPrivate } from './hidden-agents.js'

/** Counts changes of what strangers see, so that validators of lists reveal nothing about anything else. */
export interface PublicState {
  /** Changes of the content of agents: registrations, updates, marks, removals. */
  readonly changes: number
  /** Changes of their times alone: when they were received, and when they expire. */
  readonly refreshes: number
  /** Milliseconds; time of the last change of content. */
  readonly changedAt: number
  /** Milliseconds; time of the last change of either kind. */
  readonly refreshedAt: number
}

export interface PublicStateRecorder {
  readonly state: PublicState
  /** Notes a change of one agent; `undefined` is before its registration or after its removal. True if its content changed. */
  note(before: Agent | undefined, after: Agent | undefined): boolean
}

export function createPublicState(now: () => number): PublicStateRecorder {
  let state: PublicState = { changes: 0, refreshes: 0, changedAt: now(), refreshedAt: now() }
  return {
    get state() {
      return state
    },
    note(before, after) {
      const [shownBefore, shownAfter] = [before, after].map((agent) => (agent && !isPrivate(agent) ? agent : undefined))
      if (!shownBefore && !shownAfter) return false
      const at = now()
      if (shownBefore && shownAfter && hasSameContent(shownBefore, shownAfter)) {
        if (!hasSameTimes(shownBefore, shownAfter))
          state = { ...state, refreshes: state.refreshes + 1, refreshedAt: at }
        return false
      }
      state = { ...state, changes: state.changes + 1, changedAt: at, refreshedAt: at }
      return true
    },
  }
}

/** Whether strangers see the same of both. A refresh keeps the record, so that its documents need not be compared. */
const hasSameContent = (a: Agent, b: Agent): boolean =>
  a.number === b.number &&
  a.findings.tag === b.findings.tag &&
  (a.shown === b.shown || hasSameDocument(a.shown, b.shown)) &&
  isDeepStrictEqual(a.stored.marks, b.stored.marks)

const hasSameDocument = (a: AgentRecord, b: AgentRecord): boolean =>
  a.format === b.format && a.redacted === b.redacted && sameJson(a.document, b.document)

const hasSameTimes = (a: Agent, b: Agent): boolean =>
  a.expiresAt === b.expiresAt && a.stored.receivedAt === b.stored.receivedAt
