import {
  asString,
  DirectoryError,
  invalid,
  isObject,
  type JsonObject,
  type JsonValue,
  readIdempotencyKey,
  toRequestId,
} from '@switchboard/protocol'
import type { Invocation, Invoked } from '../../services/calls/request/invocation.js'
import { errorOf } from './write-parts.js'

/**
 * One of many calls over one socket (AURI §8), as a line of JSON. What has no header there has a place in the line:
 *
 *     {"id":"1","operation":"translate","input":{…},"stream":true,"sessionId":"s1"}
 *     {"id":"1","cancel":true}
 */
export interface CallFrame {
  readonly id: string | number
  readonly input: JsonValue
  readonly wantsStream: boolean
  /** The other members. */
  readonly said: JsonObject
}

/** Texts that a frame may carry beside its input. */
const TEXTS = ['operation', 'sessionId', 'taskId', 'version', 'requestId', 'idempotencyKey', 'delegationChain']
const MEMBERS: ReadonlySet<string> = new Set(['id', 'input', 'stream', 'accept', ...TEXTS])

/** Undefined: a line that is itself the input of an agent. */
export function readFrame(line: JsonValue): CallFrame | undefined {
  if (!isObject(line) || line.input === undefined || !Object.keys(line).every((name) => MEMBERS.has(name)))
    return undefined
  const { id, input, stream, ...said } = line
  return typeof id === 'string' || typeof id === 'number'
    ? { id, input, said, wantsStream: stream === true }
    : undefined
}

/** The id of a call that is taken back. */
export const readCancel = (line: JsonValue): string | undefined =>
  isObject(line) && line.cancel === true && line.id !== undefined ? String(line.id) : undefined

/** The call that a frame asks for, where the handshake said what holds for all of them. */
export function withFrame<T extends Omit<Invocation, 'input' | 'spend' | 'signal'>>(envelope: T, frame: CallFrame): T {
  const said = readTexts(frame.said)
  const { caller, passed, version, session, task } = envelope
  const chain = agreed('delegationChain', passed['x-delegation-chain'], said.delegationChain)
  const wanted = frame.wantsStream ? 'application/x-ndjson' : 'application/json'
  return {
    ...envelope,
    caller: { ...caller, requestId: toRequestId(said.requestId) },
    operation: agreed('operation', envelope.operation, said.operation),
    version: { ...version, frame: said.version },
    session: { ...session, frame: said.sessionId },
    task: { ...task, frame: said.taskId },
    idempotencyKey: readIdempotencyKey(agreed('idempotencyKey', envelope.idempotencyKey, said.idempotencyKey)),
    passed: { ...passed, ...(chain !== undefined && { 'x-delegation-chain': chain }) },
    choose: (offered: readonly string[]) => offered.find((type) => type === wanted),
  }
}

function readTexts(said: JsonObject): Record<string, string | undefined> {
  const texts: Record<string, string | undefined> = {}
  for (const name of TEXTS) {
    const value = said[name]
    if (value !== undefined && !(typeof value === 'string' && (name === 'operation' || SENDABLE.test(value))))
      throw invalid([{ at: `/${name}`, message: 'must be a string of visible ASCII characters' }])
    texts[name] = asString(value)
  }
  return texts
}

/** What could stand in a header, where most of it goes. */
const SENDABLE = /^[\x20-\x7e]{1,16384}$/

function agreed(name: string, outside: string | undefined, inside: string | undefined): string | undefined {
  if (outside !== undefined && inside !== undefined && outside !== inside)
    throw invalid([{ at: `/${name}`, message: 'differs from what the handshake says: say it once' }])
  return inside ?? outside
}

/** What comes of a call that was no stream. */
export function resultOf({ status, headers }: Invoked, value: JsonValue): JsonObject {
  const version = headers['x-agent-version']
  return {
    result: value,
    ...(status !== 200 && { status }),
    ...(version !== undefined && { version }),
    ...(headers['x-output-valid'] === 'false' && { outputValid: false }),
  }
}

/** An error with the status that it would have as an answer. */
export function failureOf(error: unknown): JsonObject {
  const { error: object } = errorOf(error)
  const status = error instanceof DirectoryError ? error.status : 500
  return { error: { ...(isObject(object) && object), status } }
}
