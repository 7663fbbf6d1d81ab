import {
  type AgentRecord,
  asString,
  asStrings,
  DirectoryError,
  IMPLIED_OPERATION,
  invalid,
  isObject,
  type JsonObject,
  type JsonValue,
  matchOperation,
  type Operation,
  toJsonSchema,
} from '@switchboard/protocol'
import { modesIn } from '../../../gateway/transports/a2a/card-facts.js'
import { perOperation } from './per-operation.js'

/** The operation of an agent that describes none: any object in, any object out (C-08). */
const ANYTHING: Operation = { name: IMPLIED_OPERATION, inputs: { type: 'object' }, outputs: { type: 'object' } }

/** Operation names that an error message lists. */
const NAMES_LISTED = 50

/** An operation and its input. */
export interface ChosenOperation {
  readonly operation: Operation
  /** The body without the name of the operation. */
  readonly value: JsonValue
}

/**
 * The operation that the caller requests (C-58); an error lists the operations that there are.
 *
 * @param isOpen the agent also understands requests that name no operation
 */
export function chooseOperation(
  operations: readonly Operation[],
  inUrl: string | undefined,
  value: JsonValue,
  isOpen = false,
): ChosenOperation {
  // The members of an agent that describes nothing are unknown, so `operation` may be one of them.
  if (operations.length === 0 && inUrl === undefined) return { operation: ANYTHING, value }
  const known = operations.length > 0 ? operations : [ANYTHING]
  const match = matchOperation(known, inUrl, value)
  const isImplied = match.kind === 'missing' || (match.kind === 'unknown' && match.name === IMPLIED_OPERATION)
  if (isOpen && isImplied) return { operation: ANYTHING, value: withoutImplied(value) }
  switch (match.kind) {
    case 'match':
      return { operation: match.operation, value: match.input }
    case 'missing':
      throw invalid([{ at: '/operation', message: `is required: the agent has ${namesOf(known)}` }])
    case 'conflict':
      throw invalid([{ at: '/operation', message: `must be "${match.operation.name}", as in the URL, or be left out` }])
    case 'unknown': {
      if (match.place === 'url')
        throw new DirectoryError('not_found', `the agent has no operation "${inUrl}"; it has ${namesOf(known)}`)
      const sent = typeof match.name === 'string' ? `"${match.name.slice(0, 100)}"` : 'a value that is not a string'
      throw invalid([{ at: '/operation', message: `must be one of ${namesOf(known)}, not ${sent}` }])
    }
  }
}

function withoutImplied(value: JsonValue): JsonValue {
  if (!isObject(value) || value.operation !== IMPLIED_OPERATION) return value
  const { operation: _, ...rest } = value
  return rest
}

/** Whether an array is a single input of the operation and not a batch (C-60). */
export function takesArray(operations: readonly Operation[], inUrl: string | undefined): boolean {
  const named = inUrl === undefined ? operations : operations.filter(({ name }) => name === inUrl)
  const { type } = toJsonSchema(named.length === 1 ? named[0]?.inputs : undefined)
  return type === 'array' || (Array.isArray(type) && type.includes('array'))
}

function namesOf(operations: readonly Operation[]): string {
  const names = operations.slice(0, NAMES_LISTED).map(({ name }) => `"${name}"`)
  return names.join(', ') + (operations.length > NAMES_LISTED ? ' …' : '')
}

/** Where the publisher may declare something about an operation: its entry in the document, then the document. */
function sourcesOf({ document }: AgentRecord, { name }: Operation): JsonObject[] {
  for (const list of [document.operations, document.capabilities, document.skills]) {
    for (const item of Array.isArray(list) ? list : []) {
      if (isObject(item) && (item.name === name || item.id === name)) return [item, document]
    }
  }
  return [document]
}

/** Media types that an operation declares for its input or output, in lower case (AURI §7, C-26; modes of A2A). */
export const mediaTypesOf = (record: AgentRecord, operation: Operation, side: 'input' | 'output'): readonly string[] =>
  (side === 'input' ? inputTypes : outputTypes)(record, operation)

const inputTypes = perOperation((record, operation) => readMediaTypes(record, operation, 'input'))
const outputTypes = perOperation((record, operation) => readMediaTypes(record, operation, 'output'))

function readMediaTypes(record: AgentRecord, operation: Operation, side: 'input' | 'output'): string[] {
  const { contentMediaType } = side === 'input' ? operation.inputs : operation.outputs
  const listed = sourcesOf(record, operation).flatMap((source) => {
    const { contentTypes, media_types: mediaTypes } = source
    return [
      ...typesIn(source[`${side}Formats`] ?? source[`${side}_formats`]),
      ...(isObject(contentTypes) ? typesIn(contentTypes[`${side}Format`] ?? contentTypes[`${side}Formats`]) : []),
      ...(isObject(mediaTypes) ? typesIn(mediaTypes[side] ?? mediaTypes[`${side}s`]) : []),
    ]
  })
  const modes = record.format === 'a2a' ? modesIn(record.document, operation.name, side) : []
  const whole = asString(contentMediaType)
  const all = [...listed, ...modes, ...(whole === undefined ? [] : [whole])]
  return [...new Set(all.map((type) => type.toLowerCase()))]
}

const typesIn = (value: JsonValue | undefined): string[] => (typeof value === 'string' ? [value] : asStrings(value))

/** Whether a media type is in the list, which may contain ranges such as `image/*`. */
export function isListed(listed: readonly string[], type: string): boolean {
  return listed.some((one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))
}

/** Whether the publisher marked an operation, or the whole agent, with a member that is true. */
export const isMarked = (record: AgentRecord, operation: Operation, mark: (typeof MARKS)[number]): boolean =>
  marksOf(record, operation).has(mark)

const MARKS = ['batch', 'idempotent', 'readOnly'] as const

const marksOf = perOperation((record, operation): ReadonlySet<string> => {
  const sources = sourcesOf(record, operation)
  return new Set(MARKS.filter((mark) => sources.some((source) => source[mark] === true)))
})
