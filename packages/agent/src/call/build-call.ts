import {
  agree,
  agreeOnVersion,
  declaresMember,
  isObject,
  type JsonValue,
  readIdempotencyKey,
  takeReserved,
} from '@switchboard/protocol'
import type { Caller } from '../auth/caller.js'
import { invalidInput } from '../errors.js'
import type { Versions } from '../versions.js'
import type { Call } from './call.js'
import { chooseCapability } from './choose-capability.js'

/** A value that the caller may have sent. */
type Sent = string | null | undefined

/** A call as it was requested: each identifier from every place where it may be sent (C-63). */
export interface CallRequest {
  readonly capability: string | undefined
  readonly input: JsonValue
  readonly caller: Caller
  readonly base: string
  readonly requestId: string
  /** From headers, paths and envelopes. */
  readonly versions: readonly Sent[]
  readonly sessionIds: readonly Sent[]
  readonly taskIds: readonly Sent[]
  /** Parameters here may also be input (C-89). */
  readonly query?: URLSearchParams
  readonly idempotencyKey: Sent
  readonly delegationChain: Sent
  /** Whether the Accept header asks for a stream; the member `stream` of the input may ask for one too. */
  readonly wantsStream: boolean
  readonly signal: AbortSignal
}

/** Finds the capability and version that are called, and separates what controls the call from the input. */
export function buildCall(versions: Versions, request: CallRequest): Call {
  const { query } = request
  const inQuery = (name: string): Sent => {
    const latest = request.capability === undefined ? undefined : versions.latest.capabilities.get(request.capability)
    return latest && declaresMember(latest.input, name) ? undefined : query?.get(name)
  }
  const wanted = agreeOnVersion([...request.versions, inQuery('version')])
  const { version, capabilities } = versions.choose(wanted)
  const chosen = chooseCapability(capabilities, request.capability, request.input)
  const { reserved, rest } = takeReserved(chosen.input, chosen.capability.input)
  const sessionId = agree('sessionId', [...request.sessionIds, inQuery('sessionId'), reserved.sessionId])
  const taskId = agree('taskId', [...request.taskIds, inQuery('taskId'), reserved.taskId])
  const idempotencyKey = readIdempotencyKey(request.idempotencyKey)
  const { caller, base, requestId, delegationChain, signal } = request
  return {
    capability: chosen.capability,
    version,
    input: rest,
    caller,
    requestId,
    base,
    wantsStream: request.wantsStream || reserved.stream,
    signal,
    ...(sessionId !== undefined && { sessionId }),
    ...(taskId !== undefined && { taskId }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(typeof delegationChain === 'string' && { delegationChain }),
  }
}

function textOf(value: JsonValue | undefined, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw invalidInput([{ at: `/${name}`, message: 'must be a string' }])
}

/** A text member of an envelope. */
export const textIn = (envelope: JsonValue, name: string): string | undefined =>
  isObject(envelope) && Object.hasOwn(envelope, name) ? textOf(envelope[name], name) : undefined
