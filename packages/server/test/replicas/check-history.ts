/** One request to one replica, and what came of it. Times are milliseconds since 1970, by one clock. */
export interface Operation {
  readonly kind: 'register' | 'update' | 'refresh' | 'delete' | 'read' | 'search'
  readonly agent: string
  readonly replica: number
  readonly start: number
  readonly end: number
  /** `unknown`: there was no response, or 503, so a write may have been applied. */
  readonly outcome: 'ok' | 'refused' | 'unknown'
  /** What was written, seen or searched for, different for every write; undefined: no such agent. */
  readonly value?: string | undefined
  /** Of a search: whether it found the agent with this value. */
  readonly isFound?: boolean
  /** Of a write with a lifetime: when it may end at the earliest, and must have ended at the latest. */
  readonly ends?: { readonly earliest: number; readonly latest: number }
  /** Of a conditional update: the value that it replaces. */
  readonly base?: string
  /** Whose registration it is, if several owners compete for the name. */
  readonly owner?: string
  /** Made after everything has calmed down: all replicas must have all changes. */
  readonly isFinal?: boolean
}

export interface Problem {
  readonly problem:
    | 'lost update'
    | 'stale read'
    | 'resurrected'
    | 'not found by search'
    | 'expired record served'
    | 'two owners'
    | 'replicas differ'
  readonly agent: string
  readonly operation: Operation
}

/** Milliseconds for which an expired record may still be served. */
const EXPIRED_MS = 2000

const isWrite = ({ kind }: Operation): boolean => kind !== 'read' && kind !== 'search'

/**
 * Checks a recorded history. The writes of an agent must have an order: they are made one after another, or each names the one
 * that it replaces, or they all register the same for one owner.
 */
export function checkHistory(history: readonly Operation[]): Problem[] {
  const agents = new Map<string, Operation[]>()
  for (const operation of history) {
    const known = agents.get(operation.agent)
    if (known) known.push(operation)
    else agents.set(operation.agent, [operation])
  }
  return [...agents.values()].flatMap((operations) => {
    if (operations.some(({ owner }) => owner !== undefined)) return checkOwner(operations)
    const conditional = operations.some(({ base }) => base !== undefined)
    const { writes, problems } = conditional ? orderByBase(operations) : orderByTime(operations)
    const seen = operations.filter((operation) => !isWrite(operation) && operation.outcome === 'ok')
    return [...problems, ...checkReads(writes, seen), ...checkAgreement(seen)]
  })
}

/** Where in the order of writes something was seen; 0 is the state before all of them. */
interface Step {
  readonly value: string | undefined
  readonly write: Operation | undefined
  /** A read that ends earlier cannot see it. */
  readonly from: number
}

function orderByTime(operations: readonly Operation[]): { writes: Operation[]; problems: Problem[] } {
  const writes = operations.filter((operation) => isWrite(operation) && operation.outcome !== 'refused')
  return { writes: writes.toSorted((a, b) => a.start - b.start), problems: [] }
}

/** The chain of updates that leads to the final value. Every acknowledged update must be part of it. */
function orderByBase(operations: readonly Operation[]): { writes: Operation[]; problems: Problem[] } {
  const writes = operations.filter((operation) => isWrite(operation) && operation.outcome !== 'refused')
  const byValue = new Map(writes.map((write) => [write.value, write]))
  const last = operations.findLast(({ isFinal }) => isFinal)
  const chain: Operation[] = []
  for (let value = last?.value; value !== undefined; ) {
    const write = byValue.get(value)
    if (!write || chain.includes(write)) break
    chain.unshift(write)
    value = write.base
  }
  const lost = writes.filter((write) => write.outcome === 'ok' && !chain.includes(write))
  return { writes: chain, problems: lost.map((operation) => problemOf('lost update', operation)) }
}

const problemOf = (problem: Problem['problem'], operation: Operation): Problem => ({
  problem,
  agent: operation.agent,
  operation,
})

/** The states of an agent in order; a lifetime adds a state without it, which may be skipped. */
function stepsOf(writes: readonly Operation[]): Step[] {
  const before: Step = { value: undefined, write: undefined, from: Number.NEGATIVE_INFINITY }
  return [
    before,
    ...writes.flatMap((write): Step[] => {
      const step = { value: write.kind === 'delete' ? undefined : write.value, write, from: write.start }
      return write.ends ? [step, { value: undefined, write: undefined, from: write.ends.earliest }] : [step]
    }),
  ]
}

/**
 * What one replica shows never goes back: not behind what it has acknowledged, nor behind what it has shown. At the end no replica is
 * behind what any has acknowledged.
 */
function checkReads(writes: readonly Operation[], seen: readonly Operation[]): Problem[] {
  const steps = stepsOf(writes)
  const problems: Problem[] = []
  /** By replica: what later reads must not be behind, and from when on. */
  const floors = new Map<number, { readonly at: number; readonly step: number }[]>()
  const addFloor = (replica: number, at: number, step: number): void =>
    void floors.set(replica, [...(floors.get(replica) ?? []), { at, step }])
  for (const [index, { write }] of steps.entries())
    if (write?.outcome === 'ok') addFloor(write.replica, write.end, index)
  const lastAcknowledged = steps.findLastIndex(({ write }) => write?.outcome === 'ok')

  for (const read of seen.toSorted((a, b) => a.end - b.end)) {
    const reached = (floors.get(read.replica) ?? []).filter(({ at }) => at <= read.start).map(({ step }) => step)
    const floor = Math.max(0, ...reached, read.isFinal ? lastAcknowledged : 0)
    const isPossible = ({ value, from }: Step, index: number): boolean =>
      index >= floor && from <= read.end && value === read.value
    if (read.kind === 'search' && !read.isFound) {
      const isOnly = steps.every(({ value, from }, index) => index < floor || from > read.end || value === read.value)
      if (isOnly && read.value !== undefined) problems.push(problemOf('not found by search', read))
      continue
    }
    const at = steps.findIndex(isPossible)
    if (at < 0) problems.push(problemOf(problemAt(steps, floor, read), read))
    else addFloor(read.replica, read.end, at)
    if (isExpired(steps, read)) problems.push(problemOf('expired record served', read))
  }
  return problems
}

function problemAt(steps: readonly Step[], floor: number, read: Operation): Problem['problem'] {
  if (read.isFinal) return 'lost update'
  return read.value !== undefined && steps[floor]?.value === undefined ? 'resurrected' : 'stale read'
}

function isExpired(steps: readonly Step[], read: Operation): boolean {
  if (read.value === undefined) return false
  const ends = steps.flatMap(({ value, write, from }) =>
    value === read.value && from <= read.end ? [write?.ends?.latest ?? Number.POSITIVE_INFINITY] : [],
  )
  return ends.length > 0 && read.start > Math.max(...ends) + EXPIRED_MS
}

function checkAgreement(seen: readonly Operation[]): Problem[] {
  const [first, ...others] = seen.filter(({ isFinal, kind }) => isFinal && kind === 'read')
  return others.filter(({ value }) => value !== first?.value).map((read) => problemOf('replicas differ', read))
}

/** All that was acknowledged, and all that was ever seen of a name that is never released, has one owner. */
function checkOwner(operations: readonly Operation[]): Problem[] {
  const claims = operations.filter((operation) => operation.outcome === 'ok' && operation.owner !== undefined)
  const [first, ...others] = claims
  return others.filter(({ owner }) => owner !== first?.owner).map((claim) => problemOf('two owners', claim))
}
