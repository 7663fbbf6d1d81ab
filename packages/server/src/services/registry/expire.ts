import type { Lease, Store } from '../../store/store.js'
import { stateOf } from '../operations/audit-state.js'
import type { Agent, Catalog, When } from './catalog.js'
import { createDeadlines } from './deadlines.js'

/** Milliseconds between checks at most, so that a step of the wall clock is noticed soon. */
const CHECK_MS = 250
/** Milliseconds that an expired agent is served while the store does not respond. */
const HIDE_MS = 1000
/** Milliseconds to wait after the store failed. */
const RETRY_MS = 1000
/** Milliseconds by which the clocks of replicas may differ without one of them ending a lease of another early. */
const TOLERATED_SKEW_MS = 1000
/** Milliseconds that the wall clock gains or loses between two checks if it was set; NTP adjusts it much more slowly. */
const STEP_MS = 1000
/** Milliseconds at most that a document stays after its own expiry time if the clock was set forward. */
const MAX_HOLD_MS = 900_000

/** Removes agents when their registration expires. */
export interface Expiry {
  /** Schedules the removal of an agent that has an expiry time. */
  changed(agent: Agent, when: When): void
  removed(number: number): void
  stop(): void
}

export interface ExpiryOptions {
  readonly store: Pick<Store, 'write'>
  readonly catalog: Catalog
  readonly now: () => number
  readonly monotonic: () => number
  /** Milliseconds by which this machine's clock is ahead of the store's. */
  readonly clockAhead: number
  /** When all changes that other replicas had made were known, in milliseconds since 1970. */
  readonly syncedAt: () => number
  /** Called when the wall clock was set, with the difference in milliseconds. */
  readonly onStep: (stepMs: number) => void
  readonly onError: (error: unknown) => void
}

/**
 * A lease counts by the monotonic clock from when this process first saw it, so a step of the wall clock neither ends
 * leases nor extends them. The expiry time in a document counts by the wall clock; if that is set forward, documents
 * are kept for a while, so that their owners can renew them. The store decides: another replica may have renewed. While it
 * cannot be asked, the agent is not served.
 *
 * One timer for the earliest deadlines, so nothing is scanned.
 */
export function createExpiry(options: ExpiryOptions): Expiry {
  const { catalog, now, monotonic, onStep, onError } = options
  const leases = createSchedule(monotonic)
  const documents = createSchedule(now)
  const leaseDeadlines = createLeaseDeadlines(options)
  const readClocks = () => ({ now: now(), monotonic: monotonic() })
  let lastCheck = readClocks()
  /** Monotonic time until which no document expires. */
  let heldUntil = Number.NEGATIVE_INFINITY
  /** Agents that have expired while the store did not respond: not served any more, and still in the store. */
  const overdue = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const startTimer = (): void => {
    // After a time without checks, the small adjustments of the clock may add up to more than a step.
    if (!timer) lastCheck = readClocks()
    clearTimeout(timer)
    timer = undefined
    const next = Math.min(leases.untilNext(), Math.max(documents.untilNext(), heldUntil - monotonic()))
    if (next === Number.POSITIVE_INFINITY || stopped) return
    timer = setTimeout(run, Math.min(Math.max(0, next), CHECK_MS))
    timer.unref()
  }

  const noticeStep = (): void => {
    const clocks = readClocks()
    const step = clocks.now - lastCheck.now - (clocks.monotonic - lastCheck.monotonic)
    lastCheck = clocks
    if (Math.abs(step) < STEP_MS) return
    onStep(step)
    heldUntil = clocks.monotonic + Math.min(Math.max(0, step), MAX_HOLD_MS)
  }

  const run = (): void => {
    noticeStep()
    const isHeld = monotonic() < heldUntil
    for (const number of new Set([...leases.takeDue(), ...(isHeld ? [] : documents.takeDue())])) {
      const agent = catalog.byNumber(number)
      if (agent) check(agent, isHeld)
    }
    startTimer()
  }

  const check = (agent: Agent, isHeld: boolean): void => {
    const isOutdated = !isHeld && (agent.record.expiresAt ?? Number.POSITIVE_INFINITY) <= now()
    if (!isOutdated && leaseDeadlines.of(agent) > monotonic()) {
      schedule(agent)
      return
    }
    if (overdue.has(agent.number)) hide(agent)
    else expire(agent, isOutdated)
  }

  const expire = (agent: Agent, isOutdated: boolean): void => {
    if (stopped) return
    const tooLate = setTimeout(() => hide(agent), HIDE_MS).unref()
    expireAgent(options, agent, isOutdated)
      .then((left) => {
        overdue.delete(agent.number)
        if (left) schedule(left)
        if (left?.number !== agent.number) leaseDeadlines.forget(agent.number)
      })
      .catch((error: unknown) => {
        onError(error)
        hide(agent)
        setTimeout(() => expire(agent, isOutdated), RETRY_MS).unref()
      })
      .finally(() => clearTimeout(tooLate))
  }

  const hide = ({ number, record, stored }: Agent): void => {
    overdue.add(number)
    catalog.drop(record.id, stored.revision)
  }

  const schedule = (agent: Agent): void => {
    const { number, record } = agent
    const isEarlier = [
      leases.add(number, leaseDeadlines.of(agent)),
      documents.add(number, record.expiresAt ?? Number.POSITIVE_INFINITY),
    ]
    if (isEarlier.includes(true)) startTimer()
  }

  return {
    changed(agent, when) {
      leaseDeadlines.learn(agent, when)
      schedule(agent)
    },
    removed(number) {
      if (!overdue.has(number)) leaseDeadlines.forget(number)
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** Times at which agents are to be checked. */
interface Schedule {
  /** True if this is the next check of all. A renewal adds nothing: the earlier check finds the later deadline. */
  add(number: number, at: number): boolean
  /** Milliseconds until the next check; infinite if there is none. */
  untilNext(): number
  /** The agents to be checked now. */
  takeDue(): number[]
}

function createSchedule(clock: () => number): Schedule {
  const deadlines = createDeadlines<number>()
  const earliest = new Map<number, number>()
  return {
    add(number, at) {
      if (at === Number.POSITIVE_INFINITY || (earliest.get(number) ?? Number.POSITIVE_INFINITY) <= at) return false
      earliest.set(number, at)
      deadlines.add(at, number)
      return deadlines.next() === at
    },
    untilNext: () => (deadlines.next() ?? Number.POSITIVE_INFINITY) - clock(),
    takeDue() {
      const due = deadlines.takeUntil(clock())
      for (const number of due) earliest.delete(number)
      return due
    },
  }
}

interface KnownLease {
  readonly end: number
  /** When it ends, and when this process learnt of it, by the monotonic clock. */
  readonly deadline: number
  readonly learntAt: number
}

/** When the leases of agents end, by the monotonic clock. */
function createLeaseDeadlines({ now, monotonic, clockAhead, syncedAt }: ExpiryOptions) {
  const known = new Map<number, KnownLease>()

  /** How long ago a lease was granted, or 0 if the clocks cannot tell. */
  const ageOf = ({ seconds, expiresAt }: Lease, before: KnownLease | undefined, at: number): number => {
    // A renewal moves the end and the deadline by the same time, whatever the clock of the replica that renews.
    const left = before ? before.deadline + expiresAt - before.end - at : expiresAt - now()
    const age = seconds * 1000 - left
    const oldest = before ? at - before.learntAt : now() - syncedAt()
    return age <= oldest ? Math.max(0, age - TOLERATED_SKEW_MS) : 0
  }

  return {
    /**
     * A lease that was granted a moment ago has its whole length left, whatever the clock of the replica that granted it. If
     * this process has not looked for a while, the lease may be as old as that, and the clock says how old it is; a clock that
     * says otherwise is wrong. A lease that was loaded has what the clock says, and no more than its length.
     */
    learn({ number, stored: { lease } }: Agent, when: When): void {
      const before = known.get(number)
      if (!lease) known.delete(number)
      if (!lease || before?.end === lease.expiresAt) return
      const length = lease.seconds * 1000
      const at = monotonic()
      const left = when === 'later' ? lease.expiresAt - (now() - clockAhead) : length - ageOf(lease, before, at)
      known.set(number, { end: lease.expiresAt, deadline: at + Math.min(length, left), learntAt: at })
    },
    of: ({ number }: Agent): number => known.get(number)?.deadline ?? Number.POSITIVE_INFINITY,
    forget: (number: number): void => void known.delete(number),
  }
}

/** Removes the agent, or returns it if another replica has renewed it. */
async function expireAgent(
  { store, catalog, now }: ExpiryOptions,
  agent: Agent,
  isOutdated: boolean,
): Promise<Agent | undefined> {
  const { id, revision, lease } = agent.stored
  const at = now()
  const result = await store.write({
    kind: 'remove',
    id,
    expect: revision,
    // The tombstone of a private agent must not reveal that it existed and expired.
    reason: agent.record.visibility === 'private' ? 'removed' : 'expired',
    at,
    // A renewed lease keeps the agent only if its document has not expired (C-40).
    ...(!isOutdated && lease && { ifLeaseEnds: lease.expiresAt }),
    audit: { at, actor: 'switchboard', action: 'expire', outcome: 'ok', agent: id, before: stateOf(agent) },
  })
  if (result.outcome !== 'done') return catalog.reload(id)
  catalog.drop(id, revision)
  return undefined
}
