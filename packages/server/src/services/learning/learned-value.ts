import { hash } from 'node:crypto'
import {
  countValues,
  isObject,
  type JsonObject,
  type LearnedOperations,
  type Operation,
  readRecord,
  sameJson,
} from '@switchboard/protocol'
import { memoryOf } from '../../policy/quota.js'
import type { StoredAgent } from '../../store/store.js'
import type { OperationSource } from './operation-source.js'

/** What is kept of the operations that one agent lists: half of what a document may have. */
export const LEARNED_LIMITS = { operations: 500, bytes: 131_072, values: 10_000 }
/** Characters. */
const MAX_NAME = 200
const MAX_DESCRIPTION = 4000

/** Operations within the limits. */
export type Kept = Pick<LearnedOperations, 'operations' | 'isComplete'>

/** Keeps what fits: schemas that do not are dropped first, then operations. */
export function keepOperations(listed: readonly Operation[]): Kept {
  const operations: Operation[] = []
  const names = new Set<string>()
  let [bytes, values] = [0, 0]
  const fits = (operation: Operation): boolean => {
    const json = toJson(operation)
    const [moreBytes, moreValues] = [Buffer.byteLength(JSON.stringify(json)), countValues(json)]
    if (bytes + moreBytes > LEARNED_LIMITS.bytes || values + moreValues > LEARNED_LIMITS.values) return false
    bytes += moreBytes
    values += moreValues
    return true
  }
  for (const each of listed) {
    if (!isUsableName(each.name) || names.has(each.name)) continue
    if (operations.length === LEARNED_LIMITS.operations) return { operations, isComplete: false }
    const operation = withShortDescription(each)
    const kept = [operation, withoutSchemas(operation)].find(fits)
    if (!kept) return { operations, isComplete: false }
    names.add(kept.name)
    operations.push(kept)
  }
  return { operations, isComplete: true }
}

/** A name that can be part of a URL and of a document: no control characters, no broken text. */
const isUsableName = (name: string): boolean =>
  name !== '' && name.length <= MAX_NAME && name.isWellFormed() && !/\p{Cc}/u.test(name)

function withShortDescription(operation: Operation): Operation {
  const { description } = operation
  if (description === undefined) return operation
  return { ...operation, description: description.slice(0, MAX_DESCRIPTION).toWellFormed() }
}

const withoutSchemas = (operation: Operation): Operation => ({
  ...operation,
  inputs: { type: 'object' },
  outputs: { type: 'object' },
})

/** An operation as an AIDIP document has it, which is how it is stored. */
const toJson = ({ name, description, inputs, outputs, endpoint, http }: Operation): JsonObject => ({
  name,
  ...(description !== undefined && { description }),
  inputs,
  outputs,
  ...(endpoint !== undefined && { endpoint }),
  ...(http && { http: { ...http, parameters: { ...http.parameters }, ...(http.key && { key: { ...http.key } }) } }),
})

/** What is stored about an agent. `number` and `place` tell for which registration and which endpoint it holds. */
export interface Stored {
  readonly number: number
  readonly place: string
  /** Milliseconds: when the list was last read. */
  readonly readAt: number
  readonly learned: LearnedOperations
}

/** Identifies the place where operations were read. */
export const placeOf = ({ kind, url }: OperationSource): string =>
  hash('sha256', JSON.stringify([kind, url]), 'base64url').slice(0, 16)

export const toValue = ({ number, place, readAt, learned }: Stored): JsonObject => ({
  number,
  place,
  readAt,
  source: learned.source,
  at: learned.at,
  isComplete: learned.isComplete,
  operations: learned.operations.map(toJson),
})

/** Reads a stored value. Undefined if there is none, or if it is about another registration. */
export function fromValue(value: JsonObject | undefined, { number }: Pick<StoredAgent, 'number'>): Stored | undefined {
  if (!value || value.number !== number || !Array.isArray(value.operations)) return undefined
  const { source } = value
  return {
    number,
    place: String(value.place),
    readAt: Number(value.readAt),
    learned: {
      source: source === 'a2a' || source === 'openapi' ? source : 'mcp',
      operations: readRecord('aidip', { operations: value.operations.filter(isObject) }, '').operations,
      isComplete: value.isComplete === true,
      at: Number(value.at),
    },
  }
}

/** Whether two lists say the same. */
export const isSameList = (a: Kept, b: Kept): boolean =>
  a.isComplete === b.isComplete && sameJson(a.operations.map(toJson), b.operations.map(toJson))

/** Estimated bytes in memory. */
export const memoryOfLearned = ({ operations }: LearnedOperations): number => memoryOf(operations.map(toJson))
