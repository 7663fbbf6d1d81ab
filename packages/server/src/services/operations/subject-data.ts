import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DirectoryError, invalid, subjectProblem } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import { OWN_NAMES } from '../../policy/subjects.js'
import type { Store, SubjectCounts, SubjectItem } from '../../store/store.js'
import { auditOf } from '../context.js'
import type { AuditTrail } from './audit-trail.js'

/** Everything that the directory keeps about one subject, to be exported, erased or renamed (AURI §10.1). */
export interface SubjectData {
  /** How much of each kind there is, without the audit log. */
  count(subject: string): Promise<SubjectCounts>
  /** What is kept, in pages. */
  read(subject: string, caller: Caller): AsyncIterable<SubjectItem[]>
  /** Deletes what is kept, and ends the subject's calls. What others depend on stays, under a random name. */
  erase(subject: string, caller: Caller): Promise<{ erased: SubjectCounts; alias: string }>
  /**
   * Moves everything to another name; throws `conflict` if that name owns or may do anything already, unless `merge`.
   */
  rename(subject: string, to: string, merge: boolean, caller: Caller): Promise<SubjectCounts>
  /** Erases once more what may have been written since an erasure; call it when nothing is written any more. */
  close(): Promise<void>
}

export interface SubjectDataOptions {
  readonly store: Pick<Store, 'subjects' | 'audit'>
  readonly trail: Pick<AuditTrail, 'flush' | 'record'>
  readonly now: () => number
  /** Applies changes of the store to this process. */
  readonly catchUp: () => Promise<void>
  /** Ends the calls of a subject that this process makes. */
  readonly endCalls: (subject: string) => void
  readonly onError: (error: unknown) => void
  /** Milliseconds; see SETTLE_MS and SWEEP_MS. */
  readonly settleMs?: number
  readonly sweepMs?: number
}

/** Milliseconds after which all replicas reject the subject's keys, and its last requests have been answered. */
const SETTLE_MS = 1500
/** Milliseconds after which no process has unwritten entries of the audit log about the subject. */
const SWEEP_MS = 90_000

/** Data of these kinds means that somebody uses the name. */
const IN_USE = ['agent', 'key', 'grant', 'task'] as const

export function createSubjectData(options: SubjectDataOptions): SubjectData {
  const { store, trail, now, catchUp, endCalls, onError, settleMs = SETTLE_MS, sweepMs = SWEEP_MS } = options
  const sweeps = new Set<() => Promise<void>>()

  /** Erases what there is now; what a request that is under way writes later is left. */
  const eraseNow = async (subject: string, alias: string, caller: Caller): Promise<SubjectCounts> => {
    await trail.flush()
    const found = await store.subjects.count(subject)
    if (Object.keys(found).length > 0) {
      const audit = auditOf(caller, 'subject.erase', now(), { after: { alias, erased: { ...found } } })
      await store.subjects.erase(subject, alias, audit)
      await catchUp()
    }
    endCalls(subject)
    await store.subjects.renameInAudit(subject, alias, false)
    return found
  }

  return {
    count: store.subjects.count,
    async *read(subject, caller) {
      await trail.flush()
      trail.record(caller, 'subject.export', { detail: subject })
      yield* store.subjects.read(subject)
    },
    async erase(subject, caller) {
      assertErasable(subject)
      await trail.flush()
      const [entry] = await store.audit({ subject, limit: 1 })
      if (!entry && Object.keys(await store.subjects.count(subject)).length === 0) throw unknownSubject(subject)
      // Random, so that the name cannot be found again by trying.
      const alias = `erased:${randomBytes(9).toString('hex')}`
      const erased = await eraseNow(subject, alias, caller)
      await sleep(settleMs)
      const late = await eraseNow(subject, alias, caller)
      const timer = setTimeout(() => void sweep(), sweepMs).unref()
      const sweep = async (): Promise<void> => {
        clearTimeout(timer)
        sweeps.delete(sweep)
        await eraseNow(subject, alias, caller).catch(onError)
      }
      sweeps.add(sweep)
      return { erased: sum(erased, late), alias }
    },
    async rename(subject, to, merge, caller) {
      assertErasable(subject)
      const problem = to === subject ? 'is the name already: choose another one' : subjectProblem(to)
      if (problem !== undefined) throw invalid([{ at: '/to', message: problem }])
      if (OWN_NAMES.has(to)) throw invalid([{ at: '/to', message: `is a name of the directory itself` }])
      await trail.flush()
      const found = await store.subjects.count(subject)
      if (Object.keys(found).length === 0) throw unknownSubject(subject)
      const taken = await store.subjects.count(to)
      if (!merge && IN_USE.some((kind) => taken[kind] !== undefined))
        throw new DirectoryError(
          'conflict',
          `"${to}" has agents, keys, grants or tasks of its own: choose another name, or send "merge": true to join both`,
        )
      const audit = auditOf(caller, 'subject.rename', now(), { after: { subject: to, moved: { ...found } } })
      await store.subjects.rename(subject, to, audit)
      await catchUp()
      await store.subjects.renameInAudit(subject, to, true)
      return found
    },
    async close() {
      for (const sweep of sweeps) await sweep()
    },
  }
}

function assertErasable(subject: string): void {
  if (OWN_NAMES.has(subject))
    throw new DirectoryError('invalid_request', `"${subject}" is a name of the directory itself, which it needs`)
}

const unknownSubject = (subject: string): DirectoryError =>
  new DirectoryError('not_found', `nothing is kept about "${subject}": check how the subject is spelled`)

function sum(a: SubjectCounts, b: SubjectCounts): SubjectCounts {
  const both: Record<string, number> = { ...a }
  for (const [kind, rows] of Object.entries(b)) both[kind] = (both[kind] ?? 0) + rows
  return both
}
