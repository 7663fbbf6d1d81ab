import { type AgentRecord, agree, type Operation, takeReserved } from '@switchboard/protocol'
import type { AgentCall, Endpoint, Payload } from '../../../gateway/gateway.js'
import type { Agent } from '../../registry/catalog.js'
import type { CallDeps } from '../call-deps.js'
import { chooseOperation } from '../request/choose-operation.js'
import { isMarked } from '../request/declarations.js'
import type { Input, Invocation } from '../request/invocation.js'
import { addFiles, isForwarded, jsonOf } from '../request/prepare-payload.js'
import type { Admission } from './admit.js'
import { checkInput } from './check-input.js'
import type { AgentCredential } from './choose-credential.js'
import { endpointsFor } from './endpoints.js'

/**
 * One call that is allowed and checked. Besides what the gateway sends it knows what the response is checked against,
 * and everything that a deferred call must store.
 */
export interface PreparedCall extends Pick<AgentCall, 'idempotent' | 'wantsStream' | 'timeoutMs' | 'signal'> {
  readonly agent: Agent
  /** The record as the caller sees it. */
  readonly record: AgentRecord
  readonly operation: Operation
  /** Where the version is served; undefined: at the agent's endpoint. */
  readonly versionBase: string | undefined
  readonly endpoints: readonly Endpoint[]
  readonly payload: Payload
  /** For the agent, without the credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly credential: AgentCredential
  /** Subject of the caller. */
  readonly caller: string
}

/** Prepares one input of an invocation: finds its operation, checks it, and determines what is sent where. */
export function prepareCall(
  { context, timeoutMs }: Pick<CallDeps, 'context' | 'timeoutMs'>,
  invocation: Invocation,
  admission: Admission,
  input: Input,
): PreparedCall {
  const { agent, record, version, credential, operations } = admission
  const { caller, idempotencyKey, signal } = invocation
  const { operation, value } = chooseOperation(operations, invocation.operation, jsonOf(input))
  const forwarded = isForwarded(record, operation, input)
  const { reserved, rest } = takeReserved(value, operation.inputs)
  const json = input.kind === 'form' && !forwarded ? addFiles(operation, rest, input.files) : rest
  if (!forwarded) checkInput(context.schemas, operation, json)
  const session = agree('sessionId', [...Object.values(invocation.session), reserved.sessionId])
  const task = agree('taskId', [...Object.values(invocation.task), reserved.taskId])
  return {
    agent,
    record,
    operation,
    versionBase: version.base,
    endpoints: endpointsFor(admission, operation, () => context.catalog.facts(agent).baseUrl),
    payload:
      input.kind !== 'json' && forwarded
        ? { kind: 'bytes', contentType: input.contentType, body: input.body }
        : { kind: 'json', value: json },
    headers: {
      ...invocation.forwarded,
      'x-request-id': caller.requestId,
      ...version.headers,
      ...(session !== undefined && { 'x-session-id': session }),
      ...(task !== undefined && { 'x-task-id': task }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    credential,
    caller: caller.subject ?? '',
    idempotent: idempotencyKey !== undefined || isMarked(record, operation, 'idempotent'),
    wantsStream: reserved.stream,
    timeoutMs,
    signal,
  }
}
