import type { JsonObject } from '../json.js'
import { type AgentRecord, type Capability, type LearnedOperations, type Operation, plainRecord } from './record.js'

/**
 * The record of an agent together with the operations that the agent itself lists: its tools, skills or the operations of
 * its API. The document stays as its publisher sent it.
 *
 * @param isRestricted the record is that for callers who may see only some operations: nothing is added to them
 */
export function withLearned(record: AgentRecord, learned: LearnedOperations, isRestricted = false): AgentRecord {
  const operations = mergeOperations(record.operations, learned, isRestricted)
  const declared = new Set(record.capabilities.map(({ name }) => name))
  const listed = new Set(operations.map(({ name }) => name))
  const shown = isRestricted ? learned.operations.filter(({ name }) => listed.has(name)) : learned.operations
  const own = new Set(shown.map(({ name }) => name))
  const added = operations.filter(({ name }) => own.has(name) && !declared.has(name))
  const type = learned.source === 'a2a' ? 'skill' : 'tool'
  return {
    ...plainRecord(record),
    operations,
    capabilities: [...record.capabilities, ...added.map((operation) => toCapability(operation, type))],
    learned: isRestricted ? { ...learned, operations: shown } : learned,
  }
}

const toCapability = ({ name, description, inputs, outputs }: Operation, type: string): Capability => ({
  name,
  type,
  ...(description !== undefined && { description }),
  input: inputs,
  output: outputs,
})

/**
 * The operations that the publisher lists, completed by what the agent says about them; all of the agent's if the publisher
 * lists none. What the agent does not have is left out, unless the agent understands every operation (A2A) or has more than
 * is known.
 */
export function mergeOperations(
  listed: readonly Operation[],
  { source, operations, isComplete }: Pick<LearnedOperations, 'source' | 'operations' | 'isComplete'>,
  isRestricted = false,
): readonly Operation[] {
  const own = new Map(operations.map((operation) => [operation.name, operation]))
  const completed = listed.map((operation) => complete(operation, own.get(operation.name)))
  if (isRestricted || listed.length > 0) {
    if (source === 'a2a' || !isComplete) return completed
    const existing = completed.filter(({ name }) => own.has(name))
    if (isRestricted || existing.length > 0) return existing
  }
  return operations
}

/** What the publisher says comes first, except how an operation is called. */
function complete(operation: Operation, own: Operation | undefined): Operation {
  if (!own) return operation
  const description = operation.description ?? own.description
  return {
    ...operation,
    ...(description !== undefined && { description }),
    inputs: acceptsAnything(operation.inputs) ? own.inputs : operation.inputs,
    outputs: acceptsAnything(operation.outputs) ? own.outputs : operation.outputs,
    ...(own.endpoint !== undefined && { endpoint: own.endpoint }),
    ...(own.http && { http: own.http }),
  }
}

/** Whether a schema says no more than a type. */
export const acceptsAnything = (schema: JsonObject): boolean => Object.keys(schema).every((name) => name === 'type')
