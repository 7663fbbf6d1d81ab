import { DirectoryError, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { Payload } from '../../../gateway/gateway.js'
import type { Context } from '../../context.js'
import type { Agent } from '../../registry/catalog.js'
import { unknownAgent } from '../../registry/read.js'
import type { KeptCredential } from '../admission/agent-credential.js'
import { chooseOperation } from '../admission/choose-operation.js'
import type { LearnOperations } from '../learn-operations.js'
import type { ReadyCall } from './ready-call.js'

/** What a call that was put off is made with again. */
export interface RequestDeps {
  readonly context: Context
  readonly learnOperations: LearnOperations
  readonly keptCredential: (agent: Agent) => KeptCredential | undefined
}

/** Characters of an input that is kept: a caller may have a hundred of them. */
const LARGEST_INPUT = 1024 * 1024

/**
 * All that is needed to make the call later. Of the operator's credential nothing is kept here, and of an input that the
 * agent has already neither.
 */
export function writeRequest(ready: ReadyCall, isTakenOn: boolean): JsonObject {
  const { target, operation, payload, headers, credential, caller, idempotent } = ready
  const { agent, version } = target
  const kept = isTakenOn ? {} : writePayload(payload)
  if (JSON.stringify(kept).length > LARGEST_INPUT)
    throw new DirectoryError(
      'payload_too_large',
      `an input of a deferred call has at most ${LARGEST_INPUT} characters: send larger data by URL, or do not defer`,
    )
  return {
    agent: agent.record.id,
    number: agent.number,
    operation: operation.name,
    ...(version.base !== undefined && { base: version.base }),
    payload: kept,
    headers: { ...headers },
    ...(!credential.isOurs && { credential: { ...credential.headers } }),
    caller,
    repeatable: idempotent,
  }
}

const writePayload = (payload: Payload): JsonObject =>
  payload.kind === 'json'
    ? { value: payload.value }
    : {
        contentType: payload.contentType,
        base64: payload.body instanceof Uint8Array ? Buffer.from(payload.body).toString('base64') : '',
      }

/** The call as it can be made now, with the agent and the operator’s credential as they are now. */
export async function readRequest(deps: RequestDeps, request: JsonObject): Promise<ReadyCall> {
  const { agent: id, number, operation: name, base, payload, headers, credential: sent, caller, repeatable } = request
  const agent = deps.context.catalog.get(String(id))
  // Another one that has the name now is not the one that was asked.
  if (!agent || agent.number !== number) throw unknownAgent(String(id))
  const { record } = agent
  const credential = isObject(sent)
    ? { headers: textsOf(sent), isOurs: false }
    : { ...(deps.keptCredential(agent) ?? { headers: {} }), isOurs: true }
  const operations = await deps.learnOperations(agent, credential)
  const { operation } = chooseOperation(operations, String(name), {})
  const version = { version: undefined, base: typeof base === 'string' ? base : undefined }
  return {
    target: { agent, record, operations, version },
    operation,
    payload: readPayload(payload),
    headers: isObject(headers) ? textsOf(headers) : {},
    credential,
    caller: String(caller),
    idempotent: repeatable === true,
    wantsStream: false,
  }
}

function readPayload(payload: JsonValue | undefined): Payload {
  const { value = {}, contentType, base64 } = isObject(payload) ? payload : {}
  if (typeof contentType !== 'string') return { kind: 'json', value }
  return { kind: 'bytes', contentType, body: Buffer.from(String(base64), 'base64') }
}

const textsOf = (headers: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([header, text]) => [header, String(text)]))
