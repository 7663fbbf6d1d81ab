import { createHash } from 'node:crypto'
import {
  type AgentRecord,
  DirectoryError,
  isJsonType,
  isStreamType,
  type JsonValue,
  type Operation,
  STREAM_TYPES,
} from '@switchboard/protocol'
import { Cancellation, type CancelSignal } from '../../cancellation.js'
import type { CallTiming } from '../../telemetry/metrics.js'
import { readAgent } from '../registry/read.js'
import { type Admission, type AdmitDeps, admit, originHeaders } from './admission/admit.js'
import { type PreparedCall, prepareCall } from './admission/prepare-call.js'
import type { CallDeps } from './call-deps.js'
import { mediaTypesOf, takesArray } from './request/choose-operation.js'
import type { Invocation } from './request/invocation.js'
import { perOperation } from './request/per-operation.js'
import { isAgentFailure } from './response/call-failed.js'
import type { InvocationResult } from './response/invocation-result.js'
import { hasValidOutput, toResult } from './response/to-result.js'
import { deferCall, followTask } from './sending/defer-call.js'
import { withIdempotency } from './sending/idempotency.js'
import { sendBatch } from './sending/send-batch.js'
import { agentTaskOf, sendCall } from './sending/send-call.js'

/** Calls an agent for a caller, whatever protocol the agent speaks (AIDIP §5). */
export type Invoke = (invocation: Invocation) => Promise<InvocationResult>

export function createInvoke(deps: CallDeps & AdmitDeps): Invoke {
  const { context, monotonic } = deps
  return async (invocation) => {
    const { caller } = invocation
    const started = monotonic()
    let timing: CallTiming | undefined
    const seen = readAgent(context, invocation.agent, caller)
    const agent = seen.record.id
    try {
      const admitted = admit(deps, invocation, seen)
      const admission = admitted instanceof Promise ? await admitted : admitted
      const result = await call(deps, invocation, admission, (timed) => {
        timing = timed
      })
      const origin = originHeaders(admission.agent)
      context.choices?.chose(invocation.searchId, admission.agent, caller, true)
      context.trail.record(caller, 'invoke', { agent, detail: auditDetail(invocation, result) + whereOf(admission) })
      // The agent's own X-Agent-Version takes precedence (C-63).
      return { ...result, headers: { ...admission.version.headers, ...result.headers, ...origin } }
    } catch (error) {
      if (isAgentFailure(error) && !invocation.signal.aborted)
        context.choices?.chose(invocation.searchId, seen.agent, caller, false)
      context.trail.refused(error, caller, { action: 'invoke', agent, always: true, unmerged: true })
      throw error
    } finally {
      if (timing)
        context.metrics.callProcessing(timing.protocol, monotonic() - started - timing.queueMs - timing.agentMs)
    }
  }
}

/**
 * Prepares an admitted call, then sends or defers it. Throws at once if it cannot be prepared. Not asynchronous, and neither
 * are its steps if there is nothing to wait for: every call passes here, and each asynchronous function takes a kilobyte.
 *
 * @param onTimed called if exactly one call was sent
 */
function call(
  deps: CallDeps,
  invocation: Invocation,
  admission: Admission,
  onTimed: (timing: CallTiming) => void,
): Promise<InvocationResult> {
  const { agent, record, operations } = admission
  const batch = batchOf(invocation, operations)
  if (batch) return callBatch(deps, invocation, admission, batch)
  const prepared = prepareCall(deps, invocation, admission, invocation.input)
  const type = chooseResponseType(invocation, record, prepared.operation)
  const wantsStream = prepared.wantsStream || isStreamType(type)
  const accept = wantsStream || isJsonType(type) ? undefined : type
  const ready: PreparedCall = { accept, ...prepared, wantsStream, signal: signalFor(invocation, wantsStream) }
  // Checked for every call: the agent may defer the work itself, and then it is too late to reject the callback.
  if (invocation.callbackUrl !== undefined) deps.tasks?.checkCallback(invocation.callbackUrl)
  const once = (): Promise<InvocationResult> =>
    withIdempotency(
      deps,
      invocation,
      agent,
      () => contentOf(ready),
      () => send(deps, invocation, ready, onTimed),
    )
  const spent = deps.budgets.spend(invocation.caller.subject, record.id, 1)
  return spent ? spent.then(once) : once()
}

async function callBatch(
  deps: CallDeps,
  invocation: Invocation,
  admission: Admission,
  batch: readonly JsonValue[],
): Promise<InvocationResult> {
  const { agent, record } = admission
  chooseResponseType(invocation, record, undefined)
  await deps.budgets.spend(invocation.caller.subject, record.id, batch.length)
  const lasting = { ...invocation, signal: signalFor(invocation, false) }
  return await withIdempotency(
    deps,
    invocation,
    agent,
    () => batch,
    () => sendBatch(deps, lasting, admission, batch),
  )
}

async function send(
  deps: CallDeps,
  invocation: Invocation,
  ready: PreparedCall,
  onTimed: (timing: CallTiming) => void,
): Promise<InvocationResult> {
  // `Prefer: respond-async` is a preference that may be ignored (RFC 7240).
  if (invocation.defer && deps.tasks) return await deferCall(deps, invocation, ready)
  const response = await sendCall(deps, ready, onTimed)
  if (response.kind === 'task') return await followTask(deps, invocation, ready, agentTaskOf(response))
  const result = toResult(deps, ready, response)
  return result instanceof Promise ? await result : result
}

/** The inputs of a batch; undefined if the call is not a batch (C-60). */
function batchOf({ input, operation }: Invocation, operations: readonly Operation[]): JsonValue[] | undefined {
  const isArray = input.kind === 'json' && Array.isArray(input.value)
  return isArray && !takesArray(operations, operation) ? input.value : undefined
}

/** The media type that the caller prefers for the response; throws `not_acceptable` if it accepts none (C-69). */
function chooseResponseType(
  { chooseMediaType }: Invocation,
  record: AgentRecord,
  operation: Operation | undefined,
): string {
  const supported = operation ? responseTypes(record, operation) : COMMON_TYPES
  const type = chooseMediaType(supported)
  if (type !== undefined) return type
  throw new DirectoryError(
    'not_acceptable',
    `the response is available as ${supported.join(', ')}: accept one of them`,
    {
      members: { supported: [...supported] },
    },
  )
}

/** Media types that every response is available as. */
const COMMON_TYPES: readonly string[] = ['application/json', ...STREAM_TYPES]

const responseTypes = perOperation((record, operation): readonly string[] => [
  ...new Set([...COMMON_TYPES, ...mediaTypesOf(record, operation, 'output')]),
])

/** The result for an Idempotency-Key is stored, so the call continues if the caller disconnects; a stream is not stored. */
const signalFor = ({ idempotencyKey, signal }: Invocation, isStream: boolean): CancelSignal =>
  idempotencyKey === undefined || isStream ? signal : new Cancellation()

/** What distinguishes a call from another one with the same Idempotency-Key. */
function contentOf({ operation, payload, headers }: PreparedCall): unknown {
  const ids = [operation.name, headers['x-session-id'], headers['x-task-id']]
  if (payload.kind === 'json') return [...ids, payload.value]
  const body = payload.body instanceof Uint8Array ? createHash('sha256').update(payload.body).digest('hex') : ''
  return [...ids, payload.contentType, body]
}

/** For the audit log: the directory where the agent is registered, if that is another one. */
const whereOf = ({ agent: { stored } }: Admission): string =>
  stored.marks.origin ? `, registered at ${stored.marks.origin.service}` : ''

/** What the audit log records of a call: the operation and how it ended, but neither input nor output. */
function auditDetail({ operation }: Invocation, result: InvocationResult): string {
  const note = hasValidOutput(result) ? '' : ', output does not match its schema'
  return `${operation ?? 'invoke'}: ${result.status}${note}`
}
