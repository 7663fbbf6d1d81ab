import { asStrings, DirectoryError, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentCall, Payload } from '../../../gateway/gateway.js'
import { isOpenToAnything } from '../../learning/operation-source.js'
import { unknownAgent } from '../../registry/read.js'
import type { AgentCredential } from '../admission/choose-credential.js'
import { endpointsFor } from '../admission/endpoints.js'
import type { PreparedCall } from '../admission/prepare-call.js'
import { completeEndpoints } from '../admission/remote-inputs.js'
import type { CallDeps } from '../call-deps.js'
import { chooseOperation } from '../request/choose-operation.js'

/** Most characters of a stored input; a caller may have a hundred of them. */
const MAX_INPUT = 1024 * 1024

/**
 * A prepared call as JSON, to be sent later. The operator's credential is not stored, unless it was issued for this
 * caller; nor is an input that the agent already has.
 */
export function writeStoredCall(call: PreparedCall, isAccepted: boolean): JsonObject {
  const { agent, operation, versionBase, payload, headers, credential, caller, idempotent } = call
  const input = isAccepted ? {} : writePayload(payload)
  if (JSON.stringify(input).length > MAX_INPUT)
    throw new DirectoryError(
      'payload_too_large',
      `the input of a deferred call may have at most ${MAX_INPUT} characters: send larger data by URL, or do not defer`,
    )
  return {
    agent: agent.record.id,
    number: agent.number,
    operation: operation.name,
    ...(versionBase !== undefined && { base: versionBase }),
    payload: input,
    headers: { ...headers },
    ...((!credential.isStored || credential.isExchanged) && { credential: { ...credential.headers } }),
    ...(credential.isExchanged && { origins: [...(credential.origins ?? [])] }),
    ...(credential.variables && { variables: { ...credential.variables } }),
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

type ReadDeps = Pick<CallDeps, 'context' | 'learnOperations' | 'storedCredential'>

/** Prepares a stored call again, with the agent and the operator's credential as they are now. */
export async function readStoredCall(
  { context, learnOperations, storedCredential }: ReadDeps,
  stored: JsonObject,
  { timeoutMs, signal }: Pick<AgentCall, 'timeoutMs' | 'signal'>,
): Promise<PreparedCall> {
  const { agent: id, number, operation: name, base, payload, headers, caller, repeatable } = stored
  const agent = context.catalog.get(String(id))
  // A later agent of the same name is a different agent.
  if (!agent || agent.number !== number) throw unknownAgent(String(id))
  const chosen = readSent(stored) ??
    (await storedCredential(agent)?.obtain(undefined)) ?? { headers: {}, isStored: true }
  const credential = isObject(stored.variables) ? { ...chosen, variables: textsOf(stored.variables) } : chosen
  const { published, record } = agent
  const operations = await learnOperations({ published, known: record.operations, isRestricted: false }, credential)
  const { operation } = chooseOperation(operations, String(name), {}, isOpenToAnything(published))
  const versionBase = typeof base === 'string' ? base : undefined
  const target = { agent, operations, version: { base: versionBase } }
  return {
    agent,
    record,
    operation,
    versionBase,
    endpoints: completeEndpoints(
      agent.record.id,
      endpointsFor(target, operation, () => context.catalog.facts(agent).baseUrl),
      credential,
    ),
    payload: readPayload(payload),
    headers: isObject(headers) ? textsOf(headers) : {},
    credential,
    caller: String(caller),
    idempotent: repeatable === true,
    wantsStream: false,
    timeoutMs,
    signal,
  }
}

/** The credential that was stored with the call; undefined if it had the operator's. */
function readSent({ credential, origins }: JsonObject): AgentCredential | undefined {
  if (!isObject(credential)) return undefined
  const headers = textsOf(credential)
  if (!Array.isArray(origins)) return { headers, isStored: false }
  return { headers, isStored: true, isExchanged: true, origins: new Set(asStrings(origins)) }
}

function readPayload(payload: JsonValue | undefined): Payload {
  const { value = {}, contentType, base64 } = isObject(payload) ? payload : {}
  if (typeof contentType !== 'string') return { kind: 'json', value }
  return { kind: 'bytes', contentType, body: Buffer.from(String(base64), 'base64') }
}

/** The values of an object as strings. */
export const textsOf = (object: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, String(value)]))
