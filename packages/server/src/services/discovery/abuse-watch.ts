import type { AgentRecord, JsonObject } from '@switchboard/protocol'
import { type AbuseFinding, abuseFactor, findAbuse, isSearchOutage, type ThreadChecks } from '@switchboard/search'
import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'

/** Agents of a bulk load that are checked at once: some milliseconds, in which searches wait. */
const STEP = 16

/** Detects agents whose documents try to manipulate their rank. */
export interface AbuseWatch extends Required<Pick<CatalogListener, 'changed' | 'removed'>> {
  /** Resolves when the agent, if it is new or has changed, has been checked, or cannot be checked now. */
  checked(agent: Agent): Promise<void>
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

export interface AbuseWatchOptions {
  readonly checks: Omit<ThreadChecks, 'close'>
  /** The catalog, once there is one. */
  readonly catalog: () => Pick<Catalog, 'byNumber' | 'index'>
  readonly onFinding: (agent: Agent, codes: readonly string[]) => void
  readonly onError: (error: unknown) => void
}

export function createAbuseWatch({ checks, catalog, onFinding, onError }: AbuseWatchOptions): AbuseWatch {
  const waiting = new Map<number, Agent>()
  const pending = new Map<number, { readonly agent: Agent; readonly done: Promise<void> }>()
  const found = new Map<number, { record: AgentRecord; findings: readonly AbuseFinding[]; factor: number }>()
  let state: 'new' | 'idle' | 'running' | 'stopped' = 'new'

  const note = (agent: Agent, findings: readonly AbuseFinding[]): void => {
    const { number, record } = agent
    const before = found.delete(number)
    if (findings.length > 0) found.set(number, { record, findings, factor: abuseFactor(findings) })
    // Documents may have been rendered before the check, without its warnings.
    if (before || findings.length > 0) agent.views.clear(agent)
  }

  const settle = ({ number, record }: Agent, findings: readonly AbuseFinding[]): void => {
    const agent = catalog().byNumber(number)
    // Another version of it is being checked.
    if (agent?.record !== record) return
    note(agent, findings)
    if (findings.length > 0) onFinding(agent, [...new Set(findings.map(({ code }) => code))])
  }

  const check = (agent: Agent): Promise<void> => {
    const { number, owner, record, published, stored } = agent
    waiting.delete(number)
    const { id, format, marks, text = JSON.stringify(stored.document) } = stored
    const sent = {
      id,
      format,
      document: text,
      isRedacted: marks.origin?.redacted === true,
      learned: published === record ? undefined : record.learned,
      publisher: owner,
    }
    const done = checks
      .check(number, sent)
      .then(
        (findings) => settle(agent, findings),
        (error: unknown) => {
          // What the thread has lost is checked again when it has started.
          if (!isSearchOutage(error)) onError(error)
        },
      )
      .finally(() => {
        if (pending.get(number)?.agent === agent) pending.delete(number)
      })
    pending.set(number, { agent, done })
    return done
  }

  const work = async (): Promise<void> => {
    if (state !== 'idle') return
    state = 'running'
    while (waiting.size > 0 && state === 'running') {
      const batch: Agent[] = []
      for (const agent of waiting.values()) if (batch.push(agent) === STEP) break
      await Promise.all(batch.map(check))
    }
    if (state === 'running') state = 'idle'
  }

  checks.onLost(() => {
    for (const agent of catalog().index.select({ conditions: [], view: ({ record }) => record }))
      waiting.set(agent.number, agent)
    void work()
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
      if (when === 'now') {
        // Nobody waits for the check before what an agent says about itself is shown.
        if (agent.record.learned) note(agent, findAbuse(agent.shown))
        void check(agent)
      } else {
        waiting.set(agent.number, agent)
        void work()
      }
    },
    removed(number) {
      waiting.delete(number)
      pending.delete(number)
      found.delete(number)
      checks.remove(number)
    },
    checked: async ({ number }) => pending.get(number)?.done,
    findingsOf,
    warningsOf: (agent) => findingsOf(agent).map(({ code, member, message }) => ({ code, member, message })),
    factorOf: (agent) => resultOf(agent)?.factor ?? 1,
    start() {
      if (state === 'new') state = 'idle'
      void work()
    },
    stop() {
      state = 'stopped'
    },
  }
}
