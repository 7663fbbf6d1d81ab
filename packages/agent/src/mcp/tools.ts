import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { isObject, type JsonObject, type JsonValue, toJsonSchema } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import { type AgentError, problemOf } from '../errors.js'

/** A capability as an MCP tool. Arguments are always an object, so an input of another type is its member `input`. */
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
    // A stream becomes a list of its parts, which the schema does not describe.
    ...(outputSchema.type === 'object' && !streaming && { outputSchema: { ...outputSchema, type: 'object' } }),
    annotations: {
      ...(safe !== undefined && { readOnlyHint: safe }),
      ...((idempotent ?? safe) !== undefined && { idempotentHint: (idempotent ?? safe) === true }),
    },
  }
}

/** The input in the arguments of a tool call. */
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

/** Errors are part of the result, so that the model can correct its call. */
export function toToolError(error: AgentError, requestId: string): CallToolResult {
  const problem = problemOf(error, { instance: '/mcp', requestId })
  return { isError: true, content: [{ type: 'text', text: error.message }], _meta: { problem } }
}
