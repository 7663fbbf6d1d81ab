import {
  DirectoryError,
  IMPLIED_OPERATION,
  invalid,
  isObject,
  type JsonValue,
  type Operation,
  toJsonSchema,
} from '@switchboard/protocol'
import { schemasOf } from '../request/input-members.js'

/** What an agent has that describes no operation: it takes and gives an object (C-08). */
const ANYTHING: Operation = { name: IMPLIED_OPERATION, inputs: { type: 'object' }, outputs: { type: 'object' } }

/** How many names an error tells. */
const NAMES_TOLD = 50

export interface ChosenOperation {
  readonly operation: Operation
  /** The body without the name of the operation. */
  readonly value: JsonValue
}

/**
 * The operation that a call is for (C-58): the URL names it, or on the unified URL the member `operation` does, or there
 * is only one. The member belongs to the agent where its only operation has one of that name.
 */
export function chooseOperation(
  operations: readonly Operation[],
  inUrl: string | undefined,
  value: JsonValue,
): ChosenOperation {
  const [first = ANYTHING, ...others] = operations
  if (inUrl !== undefined) return byUrl(operations.length > 0 ? operations : [ANYTHING], inUrl, value)
  const member = isObject(value) && Object.hasOwn(value, 'operation') ? value.operation : undefined
  if (others.length === 0) {
    // Of an agent that describes nothing, nobody here knows which members are its own.
    if (member === undefined || operations.length === 0 || schemasOf(first.inputs, 'operation').length > 0)
      return { operation: first, value }
    if (member !== first.name) throw unknownName(operations, member)
    return { operation: first, value: withoutName(value) }
  }
  if (member === undefined)
    throw invalid([{ at: '/operation', message: `is required: the agent has ${namesOf(operations)}` }])
  const operation = operations.find(({ name }) => name === member)
  if (!operation) throw unknownName(operations, member)
  return { operation, value: withoutName(value) }
}

function byUrl(operations: readonly Operation[], inUrl: string, value: JsonValue): ChosenOperation {
  const operation = operations.find(({ name }) => name === inUrl)
  if (!operation)
    throw new DirectoryError('not_found', `the agent has no operation "${inUrl}"; it has ${namesOf(operations)}`)
  if (!isObject(value) || !Object.hasOwn(value, 'operation') || schemasOf(operation.inputs, 'operation').length > 0)
    return { operation, value }
  if (value.operation !== inUrl)
    throw invalid([{ at: '/operation', message: `must be "${inUrl}", as in the URL, or be left out` }])
  return { operation, value: withoutName(value) }
}

/** Whether an array is one input of this operation, and not a batch of them (C-60). */
export function takesArray(operations: readonly Operation[], inUrl: string | undefined): boolean {
  const named = inUrl === undefined ? operations : operations.filter(({ name }) => name === inUrl)
  const { type } = toJsonSchema(named.length === 1 ? named[0]?.inputs : undefined)
  return type === 'array' || (Array.isArray(type) && type.includes('array'))
}

const unknownName = (operations: readonly Operation[], name: JsonValue): DirectoryError => {
  const said = typeof name === 'string' ? `"${name.slice(0, 100)}"` : 'what was sent'
  return invalid([{ at: '/operation', message: `must be one of ${namesOf(operations)}, not ${said}` }])
}

function namesOf(operations: readonly Operation[]): string {
  const names = operations.slice(0, NAMES_TOLD).map(({ name }) => `"${name}"`)
  return names.join(', ') + (operations.length > NAMES_TOLD ? ' …' : '')
}

function withoutName(value: JsonValue): JsonValue {
  if (!isObject(value)) return value
  const { operation: _, ...rest } = value
  return rest
}
