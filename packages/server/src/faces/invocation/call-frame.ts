import {
  asString,
  type CallerFrame,
  DirectoryError,
  FRAME_TEXTS,
  type FrameId,
  invalid,
  type JsonObject,
  type JsonValue,
  NDJSON,
  type ReplyLine,
  readIdempotencyKey,
  toRequestId,
} from '@switchboard/protocol'
import type { InvocationResult } from '../../services/calls/response/invocation-result.js'
import type { InvocationHead } from './read-invocation.js'
import { errorLine } from './write-parts.js'

/** A request for one of many calls over one socket. */
export type CallFrame = Extract<CallerFrame, { kind: 'request' }>

/** The head of the call that a frame requests; the head of the handshake applies to all calls of the socket. */
export function withFrame(head: InvocationHead, frame: CallFrame): InvocationHead {
  const texts = readTexts(frame.members)
  const { caller, forwarded, version, session, task } = head
  const chain = agreed('delegationChain', forwarded['x-delegation-chain'], texts.delegationChain)
  const accepted = frame.wantsStream ? NDJSON.type : 'application/json'
  return {
    ...head,
    caller: { ...caller, requestId: toRequestId(texts.requestId) },
    operation: agreed('operation', head.operation, texts.operation),
    version: { ...version, frame: texts.version },
    session: { ...session, frame: texts.sessionId },
    task: { ...task, frame: texts.taskId },
    idempotencyKey: readIdempotencyKey(agreed('idempotencyKey', head.idempotencyKey, texts.idempotencyKey)),
    forwarded: { ...forwarded, ...(chain !== undefined && { 'x-delegation-chain': chain }) },
    chooseMediaType: (offered) => offered.find((type) => type === accepted),
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
export function resultFrame(id: FrameId, { status, headers }: InvocationResult, value: JsonValue): ReplyLine {
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
  const status = error instanceof DirectoryError ? error.status : 500
  return { id, error: { ...errorLine(error).error, status } }
}
