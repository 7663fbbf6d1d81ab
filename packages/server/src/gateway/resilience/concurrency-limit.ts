import type { CancelSignal } from '../../cancellation.js'
import { GatewayError } from '../gateway.js'
import { type CallCounts, createCallCounts } from './call-counts.js'
import { createFairQueue } from './fair-queue.js'
import { abortError } from './with-timeout.js'

/** Frees a slot. */
export type Release = () => void

/** Limits concurrent calls: of each caller, to each agent, and in total. */
export interface ConcurrencyLimit {
  /**
   * Takes a slot. A caller at its own limit gets `caller_busy` at once. If the agent or the gateway is full, the call
   * waits for a short time, then gets `agent_busy` or `gateway_busy`. Without a caller, nobody's limit applies. Throws
   * at once what is known at once: most calls need not wait.
   */
  acquire(call: SlotRequest, signal: CancelSignal): Release | Promise<Release>
  /** Calls of a caller, running and waiting, on all replicas. */
  countOf(caller: string): number
  /** Slots in use. */
  readonly size: number
  /** Calls that wait for a slot. */
  readonly waiting: number
}

export interface SlotRequest {
  readonly agent: string
  readonly caller: string | undefined
}

export interface ConcurrencyLimits {
  readonly maxCalls: number
  /** Most calls to one agent. */
  readonly maxCallsTo: (agent: string) => number
  /** Most calls of one caller, running and waiting. */
  readonly maxCallsOf: (caller: string) => number
  /** Milliseconds that a call may wait for a slot. */
  readonly queueMs: number
  /** Counts by caller and by agent, which may include those of other replicas. Default: the calls of this process. */
  readonly callers?: CallCounts
  readonly agents?: CallCounts
}

/** Seconds; slots are freed all the time, so it is worth trying again soon. */
const RETRY_AFTER = 1
/** Waiting calls, which hold their inputs in memory. */
const QUEUE_SIZE = { all: 256, each: 16 }

/** Waiting calls get slots as they become free, the callers in turn. */
export function createConcurrencyLimit(limits: ConcurrencyLimits): ConcurrencyLimit {
  const { maxCalls, maxCallsTo, maxCallsOf, queueMs } = limits
  const { agents = createCallCounts(), callers = createCallCounts() } = limits
  const queue = createFairQueue<{ readonly agent: string; readonly start: () => void }>(QUEUE_SIZE)
  let size = 0

  const hasSlot = (agent: string): boolean => size < maxCalls && agents.of(agent) < maxCallsTo(agent)
  const occupy = (agent: string): void => {
    size++
    agents.add(agent)
  }

  const waitForSlot = (agent: string, caller: string, signal: CancelSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
      const start = (): void => {
        settle()
        occupy(agent)
        resolve()
      }
      const waiting = { agent, start }
      const giveUp = (error: GatewayError): void => {
        settle()
        queue.remove(caller, waiting)
        reject(error)
      }
      const refuse = (): void => giveUp(busy(agent))
      const onAbort = (): void => {
        const error = abortError(signal, false)
        // The agent is not to blame for a deadline that passed in this queue.
        if (error.code === 'timeout') refuse()
        else giveUp(error)
      }
      const timer = setTimeout(refuse, queueMs)
      signal.addEventListener('abort', onAbort)
      if (!queue.add(caller, waiting)) refuse()
    })

  const busy = (agent: string): GatewayError => {
    if (size >= maxCalls) {
      return refusal('gateway_busy', `this directory has ${calls(size)} in progress, the most that it makes at a time`)
    }
    return agentBusy(agents.of(agent))
  }

  const releaseOf = ({ agent, caller }: SlotRequest): Release => {
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      size--
      agents.remove(agent)
      if (caller !== undefined) callers.remove(caller)
      startWaiting()
    }
  }
  const startWaiting = (): void => {
    while (size < maxCalls) {
      const next = queue.take((waiting) => hasSlot(waiting.agent))
      if (!next) return
      next.start()
    }
  }
  agents.onChange(startWaiting)

  const acquireLater = async (call: SlotRequest, signal: CancelSignal): Promise<Release> => {
    const { agent, caller } = call
    try {
      await waitForSlot(agent, caller ?? '', signal)
    } catch (error) {
      if (caller !== undefined) callers.remove(caller)
      throw error
    }
    return settled(call)
  }

  /** The slot of a call that is counted already, once the counts of other replicas are known, if they have to be asked. */
  const settled = (call: SlotRequest): Release | Promise<Release> => {
    const { agent, caller } = call
    const release = releaseOf(call)
    const ofAgent = agents.settle(agent, maxCallsTo(agent))
    const ofCaller = caller === undefined ? undefined : callers.settle(caller, maxCallsOf(caller))
    return ofAgent || ofCaller ? unlessTooMany(call, release, [ofAgent, ofCaller]) : release
  }
  const unlessTooMany = async (
    { agent, caller }: SlotRequest,
    release: Release,
    exchanges: readonly (Promise<void> | undefined)[],
  ): Promise<Release> => {
    try {
      await Promise.all(exchanges)
      if (caller !== undefined && callers.of(caller) > maxCallsOf(caller)) throw callerBusy(callers.of(caller) - 1)
      if (agents.of(agent) > maxCallsTo(agent)) throw agentBusy(agents.of(agent) - 1)
    } catch (error) {
      release()
      throw error
    }
    return release
  }

  return {
    countOf: callers.of,
    get size() {
      return size
    },
    get waiting() {
      return queue.size
    },
    acquire(call, signal) {
      const { agent, caller } = call
      if (signal.aborted) throw abortError(signal, false)
      if (caller !== undefined) {
        const count = callers.of(caller)
        if (count >= maxCallsOf(caller)) throw callerBusy(count)
        callers.add(caller)
      }
      if (!hasSlot(agent)) return acquireLater(call, signal)
      occupy(agent)
      return settled(call)
    },
  }
}

const calls = (count: number): string => (count === 1 ? '1 call' : `${count} calls`)

const callerBusy = (count: number): GatewayError =>
  refusal('caller_busy', `you have ${calls(count)} in progress, the most that you may have at a time`)

const agentBusy = (count: number): GatewayError =>
  refusal('agent_busy', `the agent has ${calls(count)} in progress, the most that it gets at a time`)

const refusal = (code: 'caller_busy' | 'agent_busy' | 'gateway_busy', why: string): GatewayError =>
  new GatewayError(code, `${why}: try again when one has ended`, { retryAfter: RETRY_AFTER })
