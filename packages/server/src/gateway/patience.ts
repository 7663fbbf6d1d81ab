import type { AgentCall } from './gateway.js'

/**
 * Milliseconds that an agent may be silent within its answer: an answer that is wanted whole may come as late as the
 * call's own limit allows, though it began at once. A stream is bounded by the usual silence.
 */
export const patienceOf = ({ wantsStream, timeoutMs }: Pick<AgentCall, 'wantsStream' | 'timeoutMs'>): number =>
  wantsStream ? 0 : timeoutMs
