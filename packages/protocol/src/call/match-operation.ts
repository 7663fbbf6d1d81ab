import { isObject, type JsonObject, type JsonValue } from '../json.js'
import { declaresMember } from './member-schemas.js'

/** What a call can be for: an operation of a record, a capability of the kit. */
export interface CallableOperation {
  readonly name: string
  readonly inputs: JsonObject
}

export type OperationMatch<T> =
  /** `input` comes without the member `operation` if that named the operation. */
  | { readonly kind: 'match'; readonly operation: T; readonly input: JsonValue }
  /** There are several operations, and neither the URL nor the input names one. */
  | { readonly kind: 'missing' }
  /** The URL, or the member `operation`, names an operation that does not exist. */
  | { readonly kind: 'unknown'; readonly place: 'url' | 'member'; readonly name: JsonValue }
  /** The member `operation` names another operation than the URL. */
  | { readonly kind: 'conflict'; readonly operation: T }

/**
 * Chooses the operation of a call (C-58): the URL names it, or the member `operation` does, or there is only one. The
 * member belongs to the input if an operation that is already settled, by the URL or by being the only one, declares
 * it.
 */
export function matchOperation<T extends CallableOperation>(
  operations: readonly T[],
  inUrl: string | undefined,
  input: JsonValue,
): OperationMatch<T> {
  const member = isObject(input) && Object.hasOwn(input, 'operation') ? input.operation : undefined
  const byName = (name: JsonValue): T | undefined => operations.find((operation) => operation.name === name)
  const only = operations.length === 1 ? operations[0] : undefined
  const settled = inUrl === undefined ? only : byName(inUrl)
  if (inUrl !== undefined && !settled) return { kind: 'unknown', place: 'url', name: inUrl }
  if (settled && (member === undefined || declaresMember(settled.inputs, 'operation'))) {
    return { kind: 'match', operation: settled, input }
  }
  if (member === undefined) return { kind: 'missing' }
  const named = byName(member)
  if (settled && inUrl !== undefined && named !== settled) return { kind: 'conflict', operation: settled }
  if (!named) return { kind: 'unknown', place: 'member', name: member }
  return { kind: 'match', operation: named, input: withoutOperation(input) }
}

function withoutOperation(input: JsonValue): JsonValue {
  if (!isObject(input)) return input
  const { operation: _, ...rest } = input
  return rest
}
