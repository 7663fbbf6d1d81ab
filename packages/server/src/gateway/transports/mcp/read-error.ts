import { type AgentFailure, agentFailure } from '../rpc/agent-failure.js'
import { RPC_ERRORS, type RpcError, UNKNOWN_ERROR } from '../rpc/json-rpc.js'

/** The name of an error as callers see it. */
export const nameOf = (code: number): string => (RPC_ERRORS[code] ?? UNKNOWN_ERROR).name

/** Translates a JSON-RPC error. */
export function failureOf({ code, message }: RpcError): AgentFailure {
  const { status, name } = RPC_ERRORS[code] ?? UNKNOWN_ERROR
  return agentFailure(status, name, message)
}

/**
 * Translates a tool's own error. The official SDKs report an unknown tool and invalid arguments this way too, prefixed
 * with the code of the protocol error: those are errors of the caller, not of the tool.
 */
export function failureOfTool(text: string): AgentFailure {
  const [prefix, code] = /^MCP error (-\d{5}): /.exec(text) ?? []
  if (prefix !== undefined && RPC_ERRORS[Number(code)]) {
    return failureOf({ code: Number(code), message: text.slice(prefix.length) })
  }
  return agentFailure(500, 'ToolError', text)
}
