import { invalid } from '../errors.js'
import { isObject, type JsonObject, type JsonValue } from '../json.js'
import { declaresMember } from './member-schemas.js'

/** What the reserved members of an input ask for. */
export interface ReservedMembers {
  /** `stream: true` asks for a streamed response, even if the operation declares the member (C-59). */
  readonly stream: boolean
  readonly sessionId?: string
  readonly taskId?: string
}

const NOTHING: ReservedMembers = { stream: false }

const NAMES = ['stream', 'sessionId', 'taskId'] as const

/**
 * Separates the members that control the call from the input of the operation. A member that the operation declares
 * is its own and stays in the input (C-59, C-63). The member `operation` has its own rule, see `matchOperation`.
 */
export function takeReserved(
  input: JsonValue,
  description: JsonObject,
): { readonly reserved: ReservedMembers; readonly rest: JsonValue } {
  if (!isObject(input)) return { reserved: { stream: false }, rest: input }
  if (!NAMES.some((name) => Object.hasOwn(input, name))) return { reserved: NOTHING, rest: input }
  const taken = NAMES.filter((name) => Object.hasOwn(input, name) && !declaresMember(description, name))
  const { sessionId, taskId } = Object.fromEntries(taken.map((name) => [name, input[name]]))
  const reserved = {
    stream: Object.hasOwn(input, 'stream') && input.stream === true,
    ...(sessionId !== undefined && { sessionId: asText('sessionId', sessionId) }),
    ...(taskId !== undefined && { taskId: asText('taskId', taskId) }),
  }
  if (taken.length === 0) return { reserved, rest: input }
  const names = new Set<string>(taken)
  return { reserved, rest: Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name))) }
}

function asText(name: string, value: JsonValue): string {
  if (typeof value === 'string') return value
  throw invalid([{ at: `/${name}`, message: 'must be a string' }])
}
