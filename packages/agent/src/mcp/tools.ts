import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { isObject, type JsonObject, type JsonValue, toJsonSchema } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import { type AgentError, problemOf } from '../errors.js'

/** A capability as a tool of MCP, whose arguments are always an object: another input stands in the member `input`. */
export function toTool(capability: Capability): Tool {
  const { name, description, input, output, safe, idempotent, streaming } = capability
  const schema = toJsonSchema(input)
  const outputSchema = toJsonSchema(output)
  return {
    name,
    description,
    inputSchema: takesObject(capability)
      ? { ...schema, type: 'object' }
      : { type: 'object', properties: { input: schema }, required: ['input'] },
    // Parts of a stream are a list, whatever the schema says of one.
    ...(outputSchema.type === 'object' && !streaming && { outputSchema: { ...outputSchema, type: 'object' } }),
    annotations: {
      ...(safe !== undefined && { readOnlyHint: safe }),
      ...((idempotent ?? safe) !== undefined && { idempotentHint: (idempotent ?? safe) === true }),
    },
  }
}

/** The input that the arguments of a tool stand for. */
export function inputOf(capability: Capability, args: JsonObject): JsonValue {
  return takesObject(capability) ? args : (args.input ?? null)
}

const takesObject = ({ input }: Capability): boolean => {
  const { type } = toJsonSchema(input)
  return type === undefined || type === 'object'
}

export function toToolResult(value: JsonValue): CallToolResult {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { content: [{ type: 'text', text }], ...(isObject(value) && { structuredContent: value }) }
}

/** What went wrong is told to the model, which can do better next time. */
export function toToolError(error: AgentError, requestId: string): CallToolResult {
  const problem = problemOf(error, { instance: '/mcp', requestId })
  return { isError: true, content: [{ type: 'text', text: error.message }], _meta: { problem } }
}
