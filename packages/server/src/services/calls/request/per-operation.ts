import type { AgentRecord, Operation } from '@switchboard/protocol'

/**
 * Computes something once for each operation of a record. Both never change; another version of the agent has a new
 * record, and what was computed for the old one goes with it.
 */
export function perOperation<T>(
  compute: (record: AgentRecord, operation: Operation) => T,
): (record: AgentRecord, operation: Operation) => T {
  const known = new WeakMap<AgentRecord, WeakMap<Operation, { readonly value: T }>>()
  return (record, operation) => {
    const found = known.get(record)?.get(operation)
    if (found) return found.value
    const value = compute(record, operation)
    known.set(record, (known.get(record) ?? new WeakMap()).set(operation, { value }))
    return value
  }
}
