import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentFailure } from '../rpc/agent-failure.js'
import { type ContentItem, textOf, toJsonValue } from '../rpc/content.js'
import { failureOfTool } from './read-error.js'

/** What a tool returned; `needsInput`: its questions, not its result. */
export type ToolResult = { readonly value: JsonValue; readonly needsInput?: true } | { readonly failure: AgentFailure }

/** The result of a tool: its structured content as it is, with its files; else its content items combined into one value. */
export function readToolResult(result: JsonObject): ToolResult {
  if (result.resultType === 'input_required') return { value: questionsOf(result), needsInput: true }
  const items = asObjects(result.content).flatMap(readContent)
  if (result.isError === true) return { failure: failureOfTool(textOf(items)) }
  const { structuredContent } = result
  if (structuredContent === undefined) return { value: toJsonValue(items) }
  const files = items.flatMap((item) => (item.kind === 'file' ? [item.file] : []))
  const hasFiles = isObject(structuredContent) && Object.hasOwn(structuredContent, 'files')
  if (files.length === 0 || hasFiles) return { value: structuredContent }
  return { value: { ...(isObject(structuredContent) ? structuredContent : { data: structuredContent }), files } }
}

/** As an A2A agent that waits for the caller: the caller repeats the call, with its answers and the state. */
function questionsOf({ inputRequests, requestState }: JsonObject): JsonObject {
  return {
    status: 'input-required',
    ...(isObject(inputRequests) && { inputRequests }),
    ...(typeof requestState === 'string' && { requestState }),
  }
}

function readContent(content: JsonObject): ContentItem[] {
  const { type, text, data, resource } = content
  if (type === 'text' && typeof text === 'string') return [{ kind: 'text', text }]
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return [{ kind: 'file', file: { ...fileInfo(content), bytes: data } }]
  }
  if (type === 'resource_link') return [{ kind: 'file', file: fileInfo(content) }]
  if (type === 'resource' && isObject(resource)) {
    const bytes = asString(resource.blob)
    const resourceText = asString(resource.text)
    return [
      {
        kind: 'file',
        file: {
          ...fileInfo(resource),
          ...(bytes !== undefined && { bytes }),
          ...(resourceText !== undefined && { text: resourceText }),
        },
      },
    ]
  }
  return []
}

/** The members that describe a file. */
function fileInfo(source: JsonObject): JsonObject {
  const members = ['name', 'title', 'description', 'mimeType', 'uri'].flatMap((member) => {
    const value = asString(source[member])
    return value ? [[member, value] as const] : []
  })
  return { ...Object.fromEntries(members), ...(typeof source.size === 'number' && { size: source.size }) }
}
