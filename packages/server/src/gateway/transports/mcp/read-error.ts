import { type AgentFailure, agentFailure } from '../rpc/agent-error.js'
import type { RpcError } from '../rpc/json-rpc.js'

/** Codes of JSON-RPC that MCP uses, the name that callers see, and the status of such an error. */
const ERRORS: Record<number, { status: number; name: string } | undefined> = {
  [-32700]: { status: 400, name: 'InvalidInput' },
  [-32600]: { status: 400, name: 'InvalidInput' },
  [-32601]: { status: 501, name: 'UnsupportedOperation' },
  [-32602]: { status: 400, name: 'InvalidInput' },
}
const OTHER = { status: 500, name: 'AgentError' }

export const nameOf = (code: number): string => (ERRORS[code] ?? OTHER).name

export function failureOf({ code, message }: RpcError): AgentFailure {
  const { status, name } = ERRORS[code] ?? OTHER
  return agentFailure(status, name, message)
}

/**
 * A tool's own error. The official SDKs tell an unknown tool and wrong arguments this way too, behind the number that
 * they would have as errors of the protocol: those are the caller's fault and not the tool's.
 */
export function failureOfTool(text: string): AgentFailure {
  const [said, code] = /^MCP error (-\d{5}): /.exec(text) ?? []
  if (said !== undefined && ERRORS[Number(code)]) {
    return failureOf({ code: Number(code), message: text.slice(said.length) })
  }
  return agentFailure(500, 'ToolError', text)
}
