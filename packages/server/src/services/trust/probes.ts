import { hash } from 'node:crypto'
import { asObjects, asString, DirectoryError, type JsonObject } from '@switchboard/protocol'
import { mayOperate } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import { afterProbe, nextProbe, type Probe, type ProbeResult, showProbe, showProbeDetail } from '../../policy/probe.js'
import type { TrustEntry, TrustStore } from '../../store/trust-store.js'
import type { Context } from '../context.js'
import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import { createDeadlines } from '../registry/deadlines.js'
import { readAgent } from '../registry/read.js'
import type { CheckLease } from './check-lease.js'
import { type ProbeCase, type ProbeOperation, probeCases } from './probe-agent.js'

/** Tries agents regularly with their own examples, if their publishers agree. */
export interface Probes extends Required<Pick<CatalogListener, 'changed' | 'removed' | 'findings'>> {
  /** The results of the last probe, for the owner of the agent and administrators. */
  detail(context: Context, id: string, caller: Caller): JsonObject
  /** Probes agents that are due; a replica that may not probe reads what the other one has found out. */
  run(signal: AbortSignal): Promise<void>
}

export interface ProbesOptions {
  readonly store: TrustStore
  readonly catalog: Pick<Catalog, 'byNumber' | 'get' | 'review'>
  readonly probe: ProbeOperation
  readonly lease: CheckLease
  readonly intervalMs: number
  readonly now: () => number
  readonly monotonic: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/** A new or changed agent is probed when it has had a minute to start. */
const FIRST_PROBE_MS = 60_000
/** How long the result of a removed agent is kept. */
const KEPT_MS = 90 * 86_400_000
/** Milliseconds between reads of what another replica has found out, and by which their clocks may differ. */
const SYNC_MS = 10_000
const OVERLAP_MS = 60_000

interface Probed {
  /** Tells the examples that were tried from those of a changed document. */
  readonly digest: string
  readonly cases: readonly ProbeCase[]
  probe?: Probe
}

export async function createProbes(options: ProbesOptions): Promise<Probes> {
  const { store, catalog, lease, intervalMs, now, monotonic, random } = options
  const probed = new Map<number, Probed>()
  const stored = new Map<string, TrustEntry>()
  const deadlines = createDeadlines<number>()
  let waiting: number[] = []
  let syncedAt = Number.NEGATIVE_INFINITY

  const readEntries = async (since: number): Promise<TrustEntry[]> => {
    const entries = await store.list('probe', since)
    for (const entry of entries) stored.set(entry.key, entry)
    return entries
  }
  await readEntries(0)

  const schedule = (number: number, inMs: number): void => deadlines.add(monotonic() + inMs, number)

  const probeAgent = async (number: number, signal: AbortSignal): Promise<void> => {
    const entry = probed.get(number)
    const id = catalog.byNumber(number)?.record.id
    if (!entry || id === undefined) return
    const results: ProbeResult[] = []
    for (const each of entry.cases) {
      const result = await options.probe(id, each, signal)
      if (signal.aborted) return
      if (result) results.push(result)
    }
    if (results.length === 0) return schedule(number, intervalMs)
    entry.probe = afterProbe(entry.probe, results, now())
    schedule(number, nextProbe(entry.probe, intervalMs, random()))
    await save(id, entry.digest, entry.probe)
    catalog.review(number)
  }

  const save = async (key: string, digest: string, { at, results, failures }: Probe): Promise<void> => {
    const value: JsonObject = { digest, at, failures, results: results.map((result) => ({ ...result })) }
    const version = (await store.get('probe', key))?.version ?? 0
    const entry: TrustEntry = { kind: 'probe', key, version, value, at, expiresAt: at + KEPT_MS }
    if (await store.put(entry)) stored.set(key, { ...entry, version: version + 1 })
  }

  const sync = async (): Promise<void> => {
    if (now() - syncedAt < SYNC_MS) return
    const since = syncedAt - OVERLAP_MS
    syncedAt = now()
    for (const { key } of await readEntries(Math.max(0, since))) {
      const number = catalog.get(key)?.number
      const entry = number === undefined ? undefined : probed.get(number)
      const probe = entry && probeOf(stored.get(key), entry.digest)
      if (!entry || !probe || number === undefined) continue
      entry.probe = probe
      catalog.review(number)
    }
  }

  const entryOf = ({ number, record }: Agent): Probed | undefined => {
    const cases = probeCases(record)
    if (cases.length === 0) return undefined
    const digest = hash('sha256', JSON.stringify([cases, record.bindings.map(({ endpoint }) => endpoint)]), 'base64url')
    const known = probed.get(number)
    if (known?.digest === digest) return known
    const probe = probeOf(stored.get(record.id), digest)
    return { digest, cases, ...(probe && { probe }) }
  }

  return {
    changed(agent, when) {
      const { number } = agent
      const entry = entryOf(agent)
      if (probed.get(number) === entry) return
      if (entry) probed.set(number, entry)
      else probed.delete(number)
      // After a start, the probes are spread over the interval.
      if (entry) schedule(number, when === 'later' ? intervalMs * random() : Math.min(FIRST_PROBE_MS, intervalMs))
      catalog.review(number)
    },
    removed: (number) => void probed.delete(number),
    findings({ number }) {
      const probe = probed.get(number)?.probe
      return probe ? { probe: showProbe(probe) } : {}
    },
    detail(context, id, caller) {
      const { agent } = readAgent(context, id, caller)
      if (!mayOperate(caller, { id, owner: agent.owner }))
        throw new DirectoryError('forbidden', `the agent "${id}" belongs to another publisher`)
      const probe = probed.get(agent.number)?.probe
      if (!probe) throw new DirectoryError('not_found', `the agent "${id}" has not been probed`)
      return { agent: id, ...showProbeDetail(probe) }
    },
    async run(signal) {
      if (waiting.length === 0) waiting = deadlines.takeUntil(monotonic()).filter((number) => probed.has(number))
      if (!(await lease.hold())) {
        // The other replica probes them; this one must be able to continue.
        for (const number of waiting) schedule(number, intervalMs)
        waiting = []
        return sync()
      }
      // One at a time: nobody waits for the result.
      const next = waiting.shift()
      if (next !== undefined) await probeAgent(next, signal)
    },
  }
}

/** The stored result, unless it is about other examples or endpoints. */
function probeOf(entry: TrustEntry | undefined, digest: string): Probe | undefined {
  if (!entry || entry.value.digest !== digest) return undefined
  const { at, failures, results } = entry.value
  return {
    at: Number(at),
    failures: Number(failures),
    results: asObjects(results).map(({ operation, passed, ms, reason }) => ({
      operation: asString(operation) ?? '',
      passed: passed === true,
      ms: Number(ms),
      ...(typeof reason === 'string' && { reason }),
    })),
  }
}
