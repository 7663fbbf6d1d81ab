import { agree, type JsonValue, type PublisherSchemas, takeReserved } from '@switchboard/protocol'
import type { Payload } from '../../../gateway/gateway.js'
import type { AgentCredential } from '../admission/agent-credential.js'
import { checkInput } from '../admission/check-input.js'
import { chooseOperation } from '../admission/choose-operation.js'
import type { Target } from '../admission/target.js'
import type { Input, Invocation } from './invocation.js'
import { isMarked } from './media-types.js'
import { joinFiles, jsonOf, passesAsIs } from './read-payload.js'
import type { ReadyCall } from './ready-call.js'

export interface SettleDeps {
  readonly schemas: PublisherSchemas
  readonly credential: AgentCredential
}

/** Settles one input: its operation, its reserved members, whether it fits the schema, and what goes to the agent. */
export function settleCall(
  { schemas, credential }: SettleDeps,
  invocation: Invocation,
  target: Target,
  input: Input,
): ReadyCall {
  const { operation, value } = chooseOperation(target.operations, invocation.operation, jsonOf(input))
  const asIs = passesAsIs(target.record, operation, input)
  const { reserved, rest } = takeReserved(value, operation.inputs)
  const joined = input.kind === 'form' && !asIs ? joinFiles(operation, rest, input.files) : rest
  if (input.kind !== 'bytes' && !asIs) checkInput(schemas, operation, joined)
  const ids = {
    session: agree('sessionId', [...Object.values(invocation.session), reserved.sessionId]),
    task: agree('taskId', [...Object.values(invocation.task), reserved.taskId]),
  }
  return {
    target,
    operation,
    payload: toPayload(input, asIs, joined),
    headers: headersOf(invocation, target, ids),
    credential,
    caller: invocation.caller.subject ?? '',
    idempotent: invocation.idempotencyKey !== undefined || isMarked(target.record, operation, 'idempotent'),
    wantsStream: reserved.stream,
  }
}

function toPayload(input: Input, asIs: boolean, value: JsonValue): Payload {
  if (input.kind === 'json' || !asIs) return { kind: 'json', value }
  return { kind: 'bytes', contentType: input.contentType, body: input.body }
}

function headersOf(
  { passed, idempotencyKey, caller }: Invocation,
  { version: { version } }: Target,
  { session, task }: { session: string | undefined; task: string | undefined },
): Record<string, string> {
  return {
    ...passed,
    'x-request-id': caller.requestId,
    ...(version !== undefined && isHeaderSafe(version) && { 'x-agent-version': version }),
    ...(session !== undefined && { 'x-session-id': session }),
    ...(task !== undefined && { 'x-task-id': task }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  }
}

/** Whether a text from a publisher's document can be sent as a header. */
export const isHeaderSafe = (text: string): boolean => /^[\x20-\x7e]{1,256}$/.test(text)

/** The inputs of a batch; undefined if the call is not a batch (C-60). */
export function batchOf({ input }: Invocation, takesArray: boolean): JsonValue[] | undefined {
  return input.kind === 'json' && Array.isArray(input.value) && !takesArray ? input.value : undefined
}
