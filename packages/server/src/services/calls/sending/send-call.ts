import type { AgentCall, AgentResponse, AgentTask, Endpoint } from '../../../gateway/gateway.js'
import type { CallTiming } from '../../../telemetry/metrics.js'
import { challengeOf } from '../admission/choose-credential.js'
import { isCalledThroughOrigin, originOf } from '../admission/endpoints.js'
import type { PreparedCall } from '../admission/prepare-call.js'
import type { CallDeps } from '../call-deps.js'
import { CallFailed, fromGateway, fromResponse } from '../response/call-failed.js'

type SendDeps = Pick<CallDeps, 'gateway'>

/** Sends a call to the agent. The response is a success; everything else is thrown as CallFailed. */
export async function sendCall(
  { gateway, context: { metrics } }: Pick<CallDeps, 'gateway' | 'context'>,
  call: PreparedCall,
  onTimed?: (timing: CallTiming) => void,
): Promise<AgentResponse> {
  const report = (timing: CallTiming): void => {
    metrics.agentCall(timing)
    onTimed?.(timing)
  }
  return succeeded(call, () => gateway.call({ ...toAgentCall(call), onTimed: report }))
}

/** Asks the agent for the state of work that it has accepted. */
export async function pollCall({ gateway }: SendDeps, call: PreparedCall, task: AgentTask): Promise<AgentResponse> {
  return succeeded(call, () => gateway.poll(toTaskCall(call, task), task))
}

/** Asks the agent to stop work that it has accepted. */
export async function cancelCall({ gateway }: SendDeps, call: PreparedCall, task: AgentTask): Promise<void> {
  await translated(call, () => gateway.cancel(toTaskCall(call, task), task))
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

function toAgentCall(call: PreparedCall): AgentCall {
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
    idempotent,
    timeoutMs,
    signal,
  } = call
  return {
    agent: agent.record.id,
    agentName: record.name,
    trace,
    caller,
    endpoints: allowedEndpoints(call),
    operation: operation.name,
    // The gateway of the origin maps the input itself.
    http: isCalledThroughOrigin(agent) ? undefined : operation.http,
    payload,
    headers: { ...headers, ...credential.headers },
    wantsStream,
    idempotent,
    timeoutMs,
    signal,
  }
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
  const response = await translated(call, send)
  const { isStored, onRejected } = call.credential
  if (response.status === 401) onRejected?.()
  if (response.status >= 400) throw fromResponse(response, { isStored, challenge: challengeOf(call.record) })
  return response
}

/** Translates errors of the gateway into what the caller may know. */
async function translated<T>({ record }: PreparedCall, send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    // If the directory cannot call the agent, the caller may be able to (C-44).
    const { document, bindings, protocols } = record
    const addresses = bindings.map(({ protocol, endpoint }) => ({ protocol, endpoint }))
    const base = typeof document.base === 'string' ? { base: document.base } : {}
    throw fromGateway(error, { bindings: addresses, protocols: [...protocols], ...base })
  }
}
