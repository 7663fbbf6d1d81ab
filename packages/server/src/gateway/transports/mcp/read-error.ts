import { type AgentFailure, agentFailure } from '../rpc/agent-failure.js'
import { type ErrorKind, RPC_ERRORS, type RpcError, UNKNOWN_ERROR } from '../rpc/json-rpc.js'

/** Errors of MCP itself. */
const MCP_ERRORS: Readonly<Record<number, ErrorKind | undefined>> = {
  // The server needs a capability that no caller of the gateway has.
  [-32021]: { status: 501, name: 'UnsupportedOperation' },
}

const kindOf = (code: number): ErrorKind => RPC_ERRORS[code] ?? MCP_ERRORS[code] ?? UNKNOWN_ERROR

/** The name of an error as callers see it. */
export const nameOf = (code: number): string => kindOf(code).name

/** Translates a JSON-RPC error. */
export function failureOf({ code, message }: RpcError): AgentFailure {
  const { status, name } = kindOf(code)
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
