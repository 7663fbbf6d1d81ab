import { hash } from 'node:crypto'
import { asObjects, asString, DirectoryError, type JsonObject } from '@switchboard/protocol'
import { mayOperate } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import { afterProbe, nextProbe, type Probe, type ProbeResult, showProbe, showProbeDetail } from '../../policy/probe.js'
import type { Context } from '../context.js'
import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import { readAgent } from '../registry/read.js'
import type { CheckQueue } from './check-queue.js'
import { type ProbeCase, type ProbeOperation, probeCases } from './probe-agent.js'
import type { SharedResults } from './shared-results.js'

/** Tries agents regularly with their own examples, if their publishers agree. */
export interface Probes extends Required<Pick<CatalogListener, 'changed' | 'removed' | 'findings'>> {
  /** The results of the last probe, for the owner of the agent and administrators. */
  detail(context: Context, id: string, caller: Caller): JsonObject
  /** Probes an agent that is due; a replica that may not probe reads what the other one has found out. */
  run(signal: AbortSignal): Promise<void>
}

export interface ProbesOptions {
  readonly catalog: Pick<Catalog, 'byNumber' | 'get' | 'review'>
  readonly probe: ProbeOperation
  readonly queue: CheckQueue
  readonly results: SharedResults
  readonly intervalMs: number
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/** A new or changed agent is probed when it has had a minute to start. */
const FIRST_PROBE_MS = 60_000

interface Probed {
  /** Tells the examples that were tried from those of a changed document. */
  readonly digest: string
  readonly cases: readonly ProbeCase[]
  probe?: Probe
}

export function createProbes(options: ProbesOptions): Probes {
  const { catalog, queue, results: stored, intervalMs, now, random } = options
  const probed = new Map<number, Probed>()

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
    if (results.length === 0) return queue.add(number, intervalMs)
    entry.probe = afterProbe(entry.probe, results, now())
    queue.add(number, nextProbe(entry.probe, intervalMs, random()))
    await stored.save(id, toValue(entry.digest, entry.probe))
    catalog.review(number)
  }

  const adoptNews = async (): Promise<void> => {
    for (const id of await stored.news()) {
      const number = catalog.get(id)?.number ?? 0
      const entry = probed.get(number)
      const probe = entry && probeOf(stored.of(id), entry.digest)
      if (!entry || !probe) continue
      entry.probe = probe
      catalog.review(number)
    }
  }

  /** The entry of an agent, created when the agent is seen first; undefined if it must not be probed. */
  const entryOf = ({ number, record }: Agent): Probed | undefined => {
    const cases = probeCases(record)
    if (cases.length === 0) return undefined
    const endpoints = record.bindings.map(({ endpoint }) => endpoint)
    const digest = hash('sha256', JSON.stringify([cases, endpoints]), 'base64url')
    const known = probed.get(number)
    if (known?.digest === digest) return known
    const probe = probeOf(stored.of(record.id), digest)
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
      if (entry) queue.add(number, when === 'later' ? intervalMs * random() : Math.min(FIRST_PROBE_MS, intervalMs))
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
      // One at a time: nobody waits for the result.
      const due = await queue.take(1)
      if (!due) return adoptNews()
      for (const number of due) await probeAgent(number, signal)
    },
  }
}

const toValue = (digest: string, { at, failures, results }: Probe): JsonObject => ({
  digest,
  at,
  failures,
  results: results.map((result) => ({ ...result })),
})

/** A stored result, unless it is about other examples or endpoints. */
function probeOf(stored: JsonObject | undefined, digest: string): Probe | undefined {
  if (!stored || stored.digest !== digest) return undefined
  const { at, failures, results } = stored
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
