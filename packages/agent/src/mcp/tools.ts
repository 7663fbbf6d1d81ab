import {
  type CallToolResult,
  type ContentBlock,
  type InputRequiredResult,
  inputRequired,
  isSpecType,
  type Tool,
} from '@modelcontextprotocol/server'
import { asObjects, asString, isObject, type JsonObject, type JsonValue, toJsonSchema } from '@switchboard/protocol'
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

/**
 * The output as the result of a tool: as text, as structured content, and with links to its files. If the client can be
 * asked, an output with the status `input-required` becomes the questions in it.
 */
export function toToolResult(value: JsonValue, asksCaller: boolean): CallToolResult | InputRequiredResult {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (!isObject(value)) return { content: [{ type: 'text', text }] }
  const questions = asksCaller ? questionsIn(value) : undefined
  if (questions) return questions
  const links = asObjects(value.files).flatMap(toLink)
  return { content: [{ type: 'text', text }, ...links], structuredContent: value }
}

/** The questions of an output with the status `input-required`; `undefined` if MCP could not ask them. */
function questionsIn({ status, inputRequests, requestState }: JsonObject): InputRequiredResult | undefined {
  if (status !== 'input-required' || !isObject(inputRequests)) return undefined
  const asked = Object.entries(inputRequests)
  const questions = asked.flatMap(([name, request]) =>
    isSpecType.ElicitRequest(request) ? [[name, request] as const] : [],
  )
  if (questions.length === 0 || questions.length < asked.length) return undefined
  const inputs = { inputRequests: Object.fromEntries(questions) }
  return inputRequired(typeof requestState === 'string' ? { ...inputs, requestState } : inputs)
}

/** A file with an address; the gateway writes files of A2A and MCP agents in the same way. */
function toLink(file: JsonObject): ContentBlock[] {
  const uri = asString(file.uri)
  if (!uri || file.bytes !== undefined || file.text !== undefined) return []
  const described = ['title', 'description', 'mimeType'].flatMap((member) => {
    const text = asString(file[member])
    return text ? [[member, text] as const] : []
  })
  const size = typeof file.size === 'number' ? { size: file.size } : {}
  return [{ type: 'resource_link', uri, name: asString(file.name) ?? uri, ...Object.fromEntries(described), ...size }]
}

/** Errors are part of the result, so that the model can correct its call. */
export function toToolError(error: AgentError, requestId: string): CallToolResult {
  const problem = problemOf(error, { instance: '/mcp', requestId })
  return { isError: true, content: [{ type: 'text', text: error.message }], _meta: { problem } }
}
