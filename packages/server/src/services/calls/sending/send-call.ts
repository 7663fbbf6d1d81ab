import type { AgentCall, AgentResponse, AgentTask, Endpoint } from '../../../gateway/gateway.js'
import { streamsIn } from '../../../gateway/transports/a2a/card-facts.js'
import type { CallTiming } from '../../../telemetry/metrics.js'
import { challengeOf } from '../admission/choose-credential.js'
import { isCalledThroughOrigin, originOf } from '../admission/endpoints.js'
import type { PreparedCall } from '../admission/prepare-call.js'
import type { CallDeps } from '../call-deps.js'
import { mediaTypesOf } from '../request/choose-operation.js'
import { CallFailed, fromGateway, fromResponse } from '../response/call-failed.js'

type SendDeps = Pick<CallDeps, 'gateway'>

/** Sends a call to the agent. The response is a success; everything else is thrown as CallFailed. */
export function sendCall(
  { gateway, context: { metrics } }: Pick<CallDeps, 'gateway' | 'context'>,
  call: PreparedCall,
  onTimed?: (timing: CallTiming) => void,
): Promise<AgentResponse> {
  const report = (timing: CallTiming): void => {
    metrics.agentCall(timing)
    onTimed?.(timing)
  }
  return succeeded(call, () => gateway.call(toAgentCall(call, report)))
}

/** Asks the agent for the state of work that it has accepted. */
export async function pollCall({ gateway }: SendDeps, call: PreparedCall, task: AgentTask): Promise<AgentResponse> {
  return succeeded(call, () => gateway.poll(toTaskCall(call, task), task))
}

/** Asks the agent to stop work that it has accepted. */
export async function cancelCall({ gateway }: SendDeps, call: PreparedCall, task: AgentTask): Promise<void> {
  try {
    await gateway.cancel(toTaskCall(call, task), task)
  } catch (error) {
    throw translate(call, error)
  }
}

/** Work that the agent has accepted, bound to the endpoint that accepted it. */
export function agentTaskOf({ task, endpoint }: Extract<AgentResponse, { kind: 'task' }>): AgentTask {
  const { protocol, url } = endpoint
  return { ...task, endpoint: { protocol, url } }
}

/** A task is known only to the endpoint that accepted it, even if another one is preferred now. */
function toTaskCall(call: PreparedCall, { endpoint: accepted }: AgentTask): AgentCall {
  const agentCall = toAgentCall(call)
  const same = agentCall.endpoints.filter(
    ({ protocol, url }) => protocol === accepted?.protocol && url === accepted.url,
  )
  return same.length > 0 ? { ...agentCall, endpoints: same } : agentCall
}

function toAgentCall(call: PreparedCall, onTimed?: (timing: CallTiming) => void): AgentCall {
  const {
    agent,
    record,
    trace,
    caller,
    operation,
    payload,
    headers,
    credential,
    wantsStream,
    prefersTask = false,
    accept,
    idempotent,
    timeoutMs,
    signal,
  } = call
  const isThroughOrigin = isCalledThroughOrigin(agent)
  return {
    agent: agent.record.id,
    agentName: record.name,
    trace,
    caller,
    endpoints: allowedEndpoints(call),
    operation: operation.name,
    // The gateway of the origin maps the input itself.
    http: isThroughOrigin ? undefined : operation.http,
    payload,
    headers: { ...headers, ...credential.headers },
    wantsStream,
    // All callers of this directory would share the tasks that they may have at the origin.
    prefersTask: prefersTask && !isThroughOrigin,
    inputTypes: inputTypesOf(call),
    streams: streamsIn(agent.record.document),
    accept,
    idempotent,
    timeoutMs,
    signal,
    onTimed,
  }
}

/** The media types that the publisher lists for the input. Except in A2A cards, they come in addition to JSON (C-26). */
function inputTypesOf({ agent: { record }, operation }: PreparedCall): readonly string[] | undefined {
  const listed = mediaTypesOf(record, operation, 'input')
  if (listed.length === 0) return undefined
  return record.format === 'a2a' ? listed : ['application/json', ...listed]
}

/** A stored credential is sent only to the origins that the agent had when the operator set it. */
function allowedEndpoints({ endpoints, credential: { origins } }: PreparedCall): readonly Endpoint[] {
  if (!origins || endpoints.length === 0) return endpoints
  const allowed = endpoints.filter(({ url }) => origins.has(originOf(url)))
  if (allowed.length > 0) return allowed
  throw new CallFailed(
    'agent_error',
    'the agent has moved since its credential was stored: the operator of this directory must set the credential again',
    { mayHaveRun: false },
  )
}

async function succeeded(call: PreparedCall, send: () => Promise<AgentResponse>): Promise<AgentResponse> {
  let response: AgentResponse
  try {
    response = await send()
  } catch (error) {
    throw translate(call, error)
  }
  const { isStored, onRejected } = call.credential
  if (response.status === 401) onRejected?.()
  if (response.status >= 400) throw fromResponse(response, { isStored, challenge: challengeOf(call.record) })
  return response
}

/** Translates an error of the gateway into what the caller may know. */
function translate({ record }: PreparedCall, error: unknown): unknown {
  // If the directory cannot call the agent, the caller may be able to (C-44).
  const { document, bindings, protocols } = record
  const addresses = bindings.map(({ protocol, endpoint }) => ({ protocol, endpoint }))
  const base = typeof document.base === 'string' ? { base: document.base } : {}
  return fromGateway(error, { bindings: addresses, protocols: [...protocols], ...base })
}
