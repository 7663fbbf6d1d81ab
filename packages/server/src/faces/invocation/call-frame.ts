import {
  asString,
  type CallerFrame,
  DirectoryError,
  FRAME_TEXTS,
  type FrameId,
  invalid,
  isObject,
  type JsonObject,
  type JsonValue,
  NDJSON,
  type ReplyLine,
  readIdempotencyKey,
  toRequestId,
} from '@switchboard/protocol'
import type { Invocation, Invoked } from '../../services/calls/request/invocation.js'
import { errorOf } from './write-parts.js'

/** A request for one of many calls over one socket. */
export type CallFrame = Extract<CallerFrame, { kind: 'request' }>

/** The call that a frame requests; what the handshake says applies to all calls of the socket. */
export function withFrame<T extends Omit<Invocation, 'input' | 'spend' | 'signal'>>(envelope: T, frame: CallFrame): T {
  const said = readTexts(frame.members)
  const { caller, passed, version, session, task } = envelope
  const chain = agreed('delegationChain', passed['x-delegation-chain'], said.delegationChain)
  const wanted = frame.wantsStream ? NDJSON.type : 'application/json'
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

function readTexts(members: JsonObject): Record<string, string | undefined> {
  const texts: Record<string, string | undefined> = {}
  for (const name of FRAME_TEXTS) {
    const value = members[name]
    if (value !== undefined && !(typeof value === 'string' && (name === 'operation' || SENDABLE.test(value))))
      throw invalid([{ at: `/${name}`, message: 'must be a string of visible ASCII characters' }])
    texts[name] = asString(value)
  }
  return texts
}

/** Characters that a header can carry, which is where most of these texts go. */
const SENDABLE = /^[\x20-\x7e]{1,16384}$/

function agreed(name: string, outside: string | undefined, inside: string | undefined): string | undefined {
  if (outside !== undefined && inside !== undefined && outside !== inside)
    throw invalid([{ at: `/${name}`, message: 'differs from the value in the handshake: send it once' }])
  return inside ?? outside
}

/** The frame for the whole output of a call. */
export function resultFrame(id: FrameId, { status, headers }: Invoked, value: JsonValue): ReplyLine {
  const version = headers['x-agent-version']
  return {
    id,
    result: value,
    ...(status !== 200 && { status }),
    ...(version !== undefined && { version }),
    ...(headers['x-output-valid'] === 'false' && { outputValid: false }),
  }
}

/** The frame for a failed call, with the status that an HTTP response would have. */
export function errorFrame(id: FrameId, error: unknown): ReplyLine {
  const { error: object } = errorOf(error)
  const status = error instanceof DirectoryError ? error.status : 500
  return { id, error: { ...(isObject(object) && object), status } }
}
