import { declaresMember, type JsonValue, type Operation, type StreamPart } from '@switchboard/protocol'
import { isSameEndpoint } from '../../../gateway/endpoints-of.js'
import type { AgentCall, AgentResponse, AgentTask, Endpoint, Gateway } from '../../../gateway/gateway.js'
import type { Context } from '../../context.js'
import type { AgentCredential } from '../admission/agent-credential.js'
import { endpointsFor, originOf } from '../admission/target.js'
import type { Occasion, ReadyCall } from '../request/ready-call.js'
import { CallFailed, fromAnswer, fromErrorInside, fromGateway } from '../response/call-failed.js'
import { doesNotFit, errorOf, guardParts } from '../response/guard-parts.js'

export interface RunDeps {
  readonly context: Context
  readonly gateway: Gateway
  /** Output that does not fit its schema is refused and not only marked (C-67). */
  readonly strictOutputs: boolean
}

/** A successful answer of an agent, checked. */
export type CheckedAnswer = Exclude<AgentResponse, { kind: 'json' }> | (JsonAnswer & { readonly fits: boolean })
type JsonAnswer = Extract<AgentResponse, { kind: 'json' }>

/** Makes a call; what is not a success is thrown. */
export async function runCall(deps: RunDeps, ready: ReadyCall, occasion: Occasion): Promise<CheckedAnswer> {
  const call = toAgentCall(deps, ready, occasion)
  return judge(deps, ready, await answered(ready, () => deps.gateway.call(call)))
}

/** Asks how work is doing that an agent has taken on. */
export async function pollCall(
  deps: RunDeps,
  ready: ReadyCall,
  task: AgentTask,
  occasion: Occasion,
): Promise<CheckedAnswer> {
  const call = toTaskCall(deps, ready, task, occasion)
  return judge(deps, ready, await answered(ready, () => deps.gateway.poll(call, task)))
}

export async function cancelCall(deps: RunDeps, ready: ReadyCall, task: AgentTask, occasion: Occasion): Promise<void> {
  const call = toTaskCall(deps, ready, task, occasion)
  await answered(ready, () => deps.gateway.cancel(call, task))
}

/** Work is asked for where it was taken on, whichever way is preferred now. */
function toTaskCall(deps: RunDeps, ready: ReadyCall, { endpoint }: AgentTask, occasion: Occasion): AgentCall {
  const call = toAgentCall(deps, ready, occasion)
  const same = call.endpoints.filter((each) => endpoint && isSameEndpoint(each, endpoint))
  return same.length > 0 ? { ...call, endpoints: same } : call
}

function toAgentCall({ context }: RunDeps, ready: ReadyCall, occasion: Occasion): AgentCall {
  const { target, operation, payload, headers, credential, caller, idempotent, wantsStream } = ready
  const endpoints = endpointsFor(target, operation, () => context.catalog.facts(target.agent).baseUrl)
  return {
    agent: target.agent.record.id,
    caller,
    endpoints: allowedEndpoints(credential, endpoints),
    operation: operation.name,
    payload,
    headers: { ...headers, ...credential.headers },
    idempotent,
    wantsStream,
    ...occasion,
  }
}

/** The operator's credential stays where it was set for, wherever the owner moves the agent. */
function allowedEndpoints({ origins }: AgentCredential, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  if (!origins || endpoints.length === 0) return endpoints
  const known = endpoints.filter(({ url }) => origins.has(originOf(url)))
  if (known.length > 0) return known
  throw new CallFailed('agent_error', 'the agent has moved since the operator of this directory set its credential', {
    mayHaveRun: false,
  })
}

async function answered<T>({ target }: ReadyCall, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    // Where the caller could go instead, as far as it may know (C-44).
    const { document, bindings, protocols } = target.record
    const reach = bindings.map(({ protocol, endpoint }) => ({ protocol, endpoint }))
    const base = typeof document.base === 'string' ? { base: document.base } : {}
    throw fromGateway(error, { bindings: reach, protocols: [...protocols], ...base })
  }
}

async function judge(deps: RunDeps, ready: ReadyCall, answer: AgentResponse): Promise<CheckedAnswer> {
  if (answer.status >= 400) throw fromAnswer(answer, ready.credential.isOurs)
  if (answer.kind === 'json') return { ...answer, fits: judgeOutput(deps, ready.operation, answer.value) }
  if (answer.kind === 'task') {
    const { protocol, url } = answer.endpoint
    return { ...answer, task: { ...answer.task, endpoint: { protocol, url } } }
  }
  if (answer.kind !== 'stream') return answer
  const parts = guardParts(answer.parts)
  if (ready.wantsStream) return { ...answer, parts }
  const { status, headers, endpoint } = answer
  const value = await join(parts)
  return { kind: 'json', value, status, headers, endpoint, fits: judgeOutput(deps, ready.operation, value) }
}

/** Whether an output fits its schema; one that says that the work failed is no success (01 §5.2). */
function judgeOutput({ context, strictOutputs }: RunDeps, operation: Operation, value: JsonValue): boolean {
  const inside = fromErrorInside(value)
  if (inside && !declaresMember(operation.outputs, 'error')) throw inside
  const fits = context.schemas.check(operation.outputs, value).length === 0
  if (!fits && strictOutputs) throw doesNotFit()
  return fits
}

/** Parts that a joined answer may have; each is bounded by the gateway. */
const MAX_JOINED = 10_000

/** A stream that nobody asked for: its only part, or the list of them. */
async function join(parts: AsyncIterable<StreamPart>): Promise<JsonValue> {
  const values: JsonValue[] = []
  for await (const { data } of parts) {
    if (values.length === MAX_JOINED) throw errorOf('the agent gave an answer that is too large')
    values.push(data)
  }
  const [first] = values
  return values.length === 1 && first !== undefined ? first : values
}
