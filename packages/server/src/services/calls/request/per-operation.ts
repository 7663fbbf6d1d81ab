import { type AgentRecord, type Operation, plainRecord } from '@switchboard/protocol'

/**
 * Computes something once for each operation of a record. Both never change; another version of the agent has a new
 * record, and what was computed for the old one goes with it. So it does when a record is no longer kept parsed.
 */
export function perOperation<T>(
  compute: (record: AgentRecord, operation: Operation) => T,
): (record: AgentRecord, operation: Operation) => T {
  const known = new WeakMap<AgentRecord, WeakMap<Operation, { readonly value: T }>>()
  return (record, operation) => {
    const plain = plainRecord(record)
    const found = known.get(plain)?.get(operation)
    if (found) return found.value
    const value = compute(record, operation)
    known.set(plain, (known.get(plain) ?? new WeakMap()).set(operation, { value }))
    return value
  }
}
